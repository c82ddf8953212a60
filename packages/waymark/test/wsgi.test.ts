import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { serveWsgi } from "./gateways/wsgi-server.ts";
import type { CaseRequest } from "./table/case.ts";

let seen: string[] = [];

class Default extends Controller {
  GET(...rest: string[]) {
    return { rest, address: this.remoteAddress, scheme: new URL(this.request.url).protocol };
  }
  async POST() {
    return (await this.request.text()).length;
  }
  async *PATCH() {
    try {
      for (;;) yield new Uint8Array(1000);
    } finally {
      seen.push(this.signal.aborted ? "aborted" : "ended");
    }
  }
}

class Fails extends Controller {
  GET() {
    return new ReadableStream({
      pull: () => {
        throw new Error("before the first piece");
      },
    });
  }
  async *POST() {
    yield "half";
    throw new Error("the source fails");
  }
}

class Headers extends Controller {
  GET() {
    this.response.status = 299;
    this.response.headers.set("x-latin", "caf\xe9");
    this.response.headers.set("keep-alive", "timeout=5");
    return this.headers.get("x-agent");
  }
}

const reported: unknown[] = [];
const { wsgi } = new Application({
  controllers: { Default, Fails, Headers },
  log: (error) => reported.push(error),
});

function request(method: string, target: string, more: Partial<CaseRequest> = {}): CaseRequest {
  return { method, target, headers: [], body: undefined, chunked: undefined, ...more };
}

test("the target is derived from SCRIPT_NAME, PATH_INFO and the raw target if they agree", async () => {
  const rows: [Record<string, unknown>, string[]][] = [
    [{ PATH_INFO: "/a/b", REQUEST_URI: "/a%2Fb" }, ["a/b"]],
    [{ PATH_INFO: "/a/b", REQUEST_URI: undefined, RAW_URI: "/a%2Fb?x=1" }, ["a/b"]],
    [{ PATH_INFO: "/a/b", REQUEST_URI: undefined }, ["a", "b"]],
    [{ PATH_INFO: "/a b/%", REQUEST_URI: undefined }, ["a b", "%"]],
    // The bytes of UTF-8, one character for each byte.
    [{ PATH_INFO: "/\xc3\xa4", REQUEST_URI: undefined }, ["ä"]],
    [{ SCRIPT_NAME: "/api", PATH_INFO: "/a/b", REQUEST_URI: "/api/a%2Fb" }, ["a/b"]],
    [{ SCRIPT_NAME: "/api", PATH_INFO: "/api/x", REQUEST_URI: "/api/api/x" }, ["api", "x"]],
    [{ SCRIPT_NAME: "/api", PATH_INFO: "", REQUEST_URI: "/api" }, []],
    [{ PATH_INFO: "/a/b", REQUEST_URI: "http://localhost/a%2Fb" }, ["a/b"]],
    // A server or middleware that changed the path.
    [{ PATH_INFO: "/rewritten", REQUEST_URI: "/as/it/was" }, ["rewritten"]],
  ];
  for (const [environ, rest] of rows) {
    const { body } = await serveWsgi(wsgi, request("GET", "/"), { environ });
    assert.deepEqual(
      JSON.parse(Buffer.from(body).toString()),
      { rest, address: "127.0.0.1", scheme: "http:" },
      JSON.stringify(environ),
    );
  }
});

test("text is Latin-1 in both directions, every status has a phrase, hop-by-hop headers are dropped", async () => {
  const outcome = await serveWsgi(wsgi, request("GET", "/headers", { headers: [["x-agent", "\xe9"]] }));
  assert.match(outcome.statusLine, /^299 \S/);
  assert.equal(Buffer.from(outcome.body).toString(), '"é"');
  assert.deepEqual(
    outcome.headers.filter(([name]) => name === "x-latin"),
    [["x-latin", "caf\xe9"]],
  );
  assert.ok(!outcome.headers.some(([name]) => name === "keep-alive"));
});

test("the input is read up to CONTENT_LENGTH, or to its end if it is terminated", async () => {
  const body = new Uint8Array(200_000).fill(65);
  for (const chunked of [undefined, 5000]) {
    const outcome = await serveWsgi(wsgi, request("POST", "/", { body, chunked }));
    assert.equal(Buffer.from(outcome.body).toString(), "200000");
  }
});

test("an input that ends early is 400", async () => {
  const environ = { CONTENT_LENGTH: "10", "wsgi.input": { read: async () => new Uint8Array() } };
  const { status } = await serveWsgi(wsgi, request("POST", "/"), { environ });
  assert.equal(status, 400);
});

test("close() ends the source of an incomplete answer and aborts the handler", async () => {
  seen = [];
  const { pieces } = await serveWsgi(wsgi, request("PATCH", "/"), { take: 2 });
  assert.equal(pieces.length, 2);
  assert.deepEqual(seen, ["aborted"]);
});

test("an error before the first piece replaces the headers, and a later one is thrown to the server", async () => {
  reported.length = 0;
  const early = await serveWsgi(wsgi, request("GET", "/fails"));
  assert.equal(early.status, 500);
  assert.equal((JSON.parse(Buffer.from(early.body).toString()) as { status: number }).status, 500);
  const late = await serveWsgi(wsgi, request("POST", "/fails"));
  assert.equal(late.status, 200);
  assert.equal((late.thrown as Error).message, "the source fails");
  assert.equal(reported.length, 2);
});
