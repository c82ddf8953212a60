import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import type { ServerLimits } from "../src/index.ts";
import { asgiListener } from "../src/serve/node/asgi-listener.ts";
import { nodeListener } from "../src/serve/node/node-adapter.ts";
import { wsgiListener } from "../src/serve/node/wsgi-listener.ts";
import { type RunningServer, startServer } from "../src/server.ts";
import { exchange } from "./support/raw.ts";

class Default extends Controller {
  GET() {
    return { path: new URL(this.request.url).pathname, host: new URL(this.request.url).host };
  }
  POST({ ...fields }: Record<string, unknown>) {
    return Object.keys(fields).length;
  }
}

const CLOSE = "connection: close\r\n\r\n";

/** Heads of requests, each with the status line and further parts of the answer. */
const HEADS: readonly [string, string, RegExp, RegExp?][] = [
  ["no Host", `GET / HTTP/1.1\r\n${CLOSE}`, /^HTTP\/1\.1 400 Bad Request\r\n/, /no Host header/],
  ["no Host in HTTP/1.0", `GET / HTTP/1.0\r\n${CLOSE}`, /^HTTP\/1\.1 200 /],
  [
    "two Hosts",
    `GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n${CLOSE}`,
    /^HTTP\/1\.1 400 Bad Request\r\n/,
    /does not name one host/,
  ],
  [
    "the same Host twice",
    `GET / HTTP/1.1\r\nhost: a\r\nHOST: a\r\n${CLOSE}`,
    /^HTTP\/1\.1 400 Bad Request\r\n/,
  ],
  ["an empty Host", `GET / HTTP/1.1\r\nhost:\r\n${CLOSE}`, /^HTTP\/1\.1 400 Bad Request\r\n/],
  ["a Host with a path", `GET / HTTP/1.1\r\nhost: x/admin?\r\n${CLOSE}`, /^HTTP\/1\.1 400 /, /x\/admin\?/],
  ["a Host with user information", `GET / HTTP/1.1\r\nhost: u:p@x\r\n${CLOSE}`, /^HTTP\/1\.1 400 /],
  ["no version", `GET /\r\nhost: x\r\n${CLOSE}`, /^HTTP\/1\.1 400 Bad Request\r\n/],
  ["no version, no headers", "GET /\r\n\r\n", /^HTTP\/1\.1 400 Bad Request\r\n/],
  [
    "a version of another major",
    `GET / HTTP/2.0\r\nhost: x\r\n${CLOSE}`,
    /^HTTP\/1\.1 505 HTTP Version Not Supported\r\n/,
  ],
];

function application(): Application {
  return new Application({ controllers: { Default } });
}

for (const [name, listener] of [
  ["node", nodeListener],
  ["asgi", asgiListener],
  ["wsgi", wsgiListener],
] as const) {
  describe(`request heads under ${name}`, () => {
    let running: RunningServer;
    before(async () => {
      running = await startServer(application(), { host: "127.0.0.1", port: 0, listener });
    });
    after(() => running.stop());
    for (const [what, request, line, rest = /./] of HEADS)
      test(what, async () => {
        const text = await exchange(running.port, request);
        assert.match(text, line);
        assert.match(text, rest);
        if (/^HTTP\/1\.1 [45]/.test(text)) assert.match(text, /application\/problem\+json/);
      });
  });
}

test("a listener in another server rejects the same requests", async () => {
  const server = createServer({ requireHostHeader: false }, application().listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  for (const [what, request, line] of HEADS)
    assert.match(await exchange((server.address() as AddressInfo).port, request), line, what);
});

test("the URL of a request has the routed path, and the host of an absolute-form target", async () => {
  const running = await startServer(application(), { host: "127.0.0.1", port: 0 });
  after(() => running.stop());
  const text = await exchange(running.port, `GET http://other:81/?x HTTP/1.1\r\nhost: x\r\n${CLOSE}`);
  assert.match(text, /"errors":\[\{"in":"query","name":"x"/, "the query belongs to the method");
  const plain = await exchange(running.port, `GET http://other:81 HTTP/1.1\r\nhost: x\r\n${CLOSE}`);
  assert.match(plain, /\{"path":"\/","host":"other:81"\}$/);
});

test("an invalid forwarded host is rejected when it is used", async () => {
  const trusting = new Application({ controllers: { Default }, trustProxy: 1 });
  for (const host of ["x/admin?", "u:p@x"]) {
    const headers = { "x-forwarded-host": host };
    const response = await trusting.fetch(new Request("http://localhost/", { headers }));
    assert.equal(response.status, 400);
    assert.match(await response.text(), /does not name a host/);
  }
});

test("a request that is too slow or too large gets the reason phrase of its status", async () => {
  const serving = async (limits: ServerLimits) => {
    const running = await startServer(application(), { host: "127.0.0.1", port: 0, ...limits });
    after(() => running.stop());
    return running.port;
  };
  const patient = await serving({});
  const impatient = await serving({ headersTimeout: 50, requestTimeout: 100, checkInterval: 10 });
  const rows: [string, string, RegExp][] = [
    ["GET / HTTP/1.1\r\nhost: x\r\nx-slow: ", "408 Request Timeout", /too long to arrive/],
    [
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}\r\n{\r\n`,
      "413 Content Too Large",
      /chunk extensions/,
    ],
    [
      `GET / HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`,
      "431 Request Header Fields Too Large",
      /too large/,
    ],
  ];
  for (const [request, line, detail] of rows) {
    const port = line.startsWith("408") ? impatient : patient;
    const text = await exchange(port, request);
    const [head, body] = text.split("\r\n\r\n") as [string, string];
    assert.ok(head.startsWith(`HTTP/1.1 ${line}\r\n`), head);
    const problem = JSON.parse(body) as { title: string; status: number; detail: string };
    assert.equal(`${problem.status} ${problem.title}`, line);
    assert.match(problem.detail, detail);
  }
});
