/** The hooks that see every request and every answer. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { Application, type ApplicationOptions, Controller, type Exchange, HttpError } from "@tollway/waymark";
import { asgiListener } from "../src/serve/node/asgi-listener.ts";
import { nodeListener } from "../src/serve/node/node-adapter.ts";
import { wsgiListener } from "../src/serve/node/wsgi-listener.ts";
import { startServer } from "../src/server.ts";
import { all, open } from "./support/raw.ts";

class Default extends Controller {
  GET(id?: number) {
    return { id: id ?? 0 };
  }
  POST() {
    throw new Error("broken");
  }
  PUT() {
    throw new HttpError(409, "taken");
  }
  async DELETE() {
    throw new Response("gone", { status: 410 });
  }
}

class Guarded extends Controller {
  override before() {
    throw new HttpError(401, "who are you?");
  }
  GET() {
    return "never";
  }
}

class Streams extends Controller {
  *GET(kind: string) {
    yield "é1";
    if (kind === "broken") throw new Error("half way");
    yield "23";
  }
}

interface Seen {
  method: string;
  path: string;
  route: string | undefined;
  status: number;
  bytes: number;
  complete: boolean;
  error: string | undefined;
}

/** An application that writes down each end of an answer. */
function observed(options: ApplicationOptions = {}): { application: Application; seen: Seen[] } {
  const seen: Seen[] = [];
  const application = new Application({
    controllers: { Default, Guarded, Streams },
    log: () => undefined,
    onAnswer: ({ headers, status }) => headers.set("x-status", String(status)),
    onEnd(exchange) {
      const { method, path, route, status, bytes, complete, error, duration, started } = exchange;
      assert.ok(duration >= 0 && duration <= performance.now() - started);
      const message = error instanceof Error ? error.message : undefined;
      seen.push({ method, path, route, status, bytes, complete, error: message });
    },
    ...options,
  });
  return { application, seen };
}

const DONE = { bytes: 0, complete: true, error: undefined };
/** Request, and what the hooks see. `bytes` -1: as many as the answer has. */
const ROWS: [string, string, Partial<Seen> & { status: number; route: string | undefined }][] = [
  ["GET", "/3?a=1#x", { status: 400, route: "/", error: "a: is not an argument of this method" }],
  ["GET", "/3", { status: 200, route: "/" }],
  ["HEAD", "/3", { status: 200, route: "/", bytes: 0 }],
  ["GET", "/3/4", { status: 404, route: "/" }],
  ["GET", "/%zz", { status: 400, route: undefined }],
  ["OPTIONS", "/", { status: 204, route: "/", bytes: 0 }],
  ["PATCH", "/", { status: 501, route: "/" }],
  ["POST", "/", { status: 500, route: "/", error: "broken" }],
  ["PUT", "/", { status: 409, route: "/", error: "taken" }],
  ["DELETE", "/", { status: 410, route: "/", bytes: 4 }],
  ["GET", "/guarded", { status: 401, route: "/guarded", error: "who are you?" }],
  ["POST", "/guarded", { status: 405, route: "/guarded" }],
  ["GET", "/streams/whole", { status: 200, route: "/streams", bytes: 5 }],
];

for (const [method, target, expected] of ROWS) {
  test(`${method} ${target}: the hooks see status ${expected.status}`, async () => {
    const { application, seen } = observed();
    const response = await application.fetch(new Request(`http://localhost${target}`, { method }));
    const { length } = await response.bytes();
    assert.equal(response.status, expected.status);
    assert.equal(response.headers.get("x-status"), String(expected.status));
    assert.equal(seen.length, 1);
    const { error, ...found } = seen[0]!;
    const path = new URL(target, "http://localhost").pathname;
    assert.deepEqual({ ...DONE, method, path, bytes: length, ...expected, error }, { ...found, error });
    if (expected.error !== undefined) assert.equal(error, expected.error);
    else if (expected.status >= 400 && expected.status !== 410) assert.ok(error);
  });
}

test("a preflight, a start that fails, and a request after the stop are seen", async () => {
  const { application, seen } = observed({ cors: { origins: ["https://a.example"] } });
  const headers = { origin: "https://a.example", "access-control-request-method": "PUT" };
  const preflight = await application.fetch(new Request("http://localhost/", { method: "OPTIONS", headers }));
  assert.equal(preflight.headers.get("x-status"), "204");
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://a.example");
  await application.stop();
  assert.equal((await application.fetch(new Request("http://localhost/"))).headers.get("x-status"), "503");
  const failing = observed({
    onStart() {
      throw new Error("no database");
    },
  });
  assert.equal(
    (await failing.application.fetch(new Request("http://localhost/"))).headers.get("x-status"),
    "500",
  );
  assert.deepEqual(
    [...seen, ...failing.seen].map(({ status, error }) => [status, error]),
    [
      [204, undefined],
      [503, "the application has been stopped"],
      [500, "no database"],
    ],
  );
});

test("the end of a stream is seen: whole, broken, and left by its reader", async () => {
  const { application, seen } = observed();
  const ask = (kind: string) => application.fetch(new Request(`http://localhost/streams/${kind}`));
  const whole = await ask("whole");
  assert.equal(seen.length, 0, "the stream is still open");
  assert.equal(await whole.text(), "é123");
  await assert.rejects((await ask("broken")).text());
  const left = await ask("left");
  const reader = left.body!.getReader();
  await reader.read();
  await reader.cancel();
  assert.deepEqual(
    seen.map(({ bytes, complete, error }) => [bytes, complete, error]),
    [
      [5, true, undefined],
      [3, false, "half way"],
      [3, false, undefined],
    ],
  );
});

for (const [name, listener] of [
  ["node", nodeListener],
  ["asgi", asgiListener],
  ["wsgi", wsgiListener],
] as const) {
  test(`${name}: hooks see streams, HEAD, 404 and a missing Host`, async () => {
    const { application, seen } = observed();
    const running = await startServer(application, { host: "127.0.0.1", port: 0, listener });
    const socket = await open(running.port);
    const text = all(socket);
    socket.write("GET /streams/whole HTTP/1.1\r\nhost: x\r\n\r\nHEAD /1 HTTP/1.1\r\nhost: x\r\n\r\n");
    socket.write("GET /1/2 HTTP/1.1\r\nhost: x\r\n\r\nGET /1 HTTP/1.1\r\nconnection: close\r\n\r\n");
    assert.deepEqual(
      [...(await text).matchAll(/^x-status: (\d+)/gim)].map(([, status]) => status),
      ["200", "200", "404", "400"],
    );
    await running.stop();
    assert.deepEqual(seen.map(({ status, complete }) => [status, complete]).sort(), [
      [200, true],
      [200, true],
      [400, true],
      [404, true],
    ]);
  });
}

test("a client that goes away ends its exchange", async () => {
  const ended = Promise.withResolvers<Exchange>();
  const started = Promise.withResolvers<void>();
  class Slow extends Controller {
    async *GET() {
      yield "first";
      started.resolve();
      await once(this.signal, "abort").catch(() => undefined);
      yield "late";
    }
  }
  const application = new Application({
    controllers: { Slow },
    onEnd: (exchange) => ended.resolve(exchange),
  });
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  const socket = connect(running.port, "127.0.0.1");
  socket.write("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
  await started.promise;
  socket.destroy();
  const { complete, status } = await ended.promise;
  assert.deepEqual({ complete, status }, { complete: false, status: 200 });
  await running.stop();
});

test("parts surround each other: the first one sees a request first and its answer last", async () => {
  const order: string[] = [];
  const part = (name: string) => ({
    onRequest: () => void order.push(`${name} request`),
    onAnswer: async () => void order.push(`${name} answer`),
    onEnd: () => void order.push(`${name} end`),
    around: async (_: Exchange, next: () => unknown) => {
      order.push(`${name} in`);
      const answer = await next();
      order.push(`${name} out`);
      return answer as never;
    },
    onStop: () => void order.push(`${name} stop`),
  });
  const application = new Application({
    controllers: { Default },
    use: [part("a"), part("b")],
    onAnswer: () => void order.push("own answer"),
    onStop: () => void order.push("own stop"),
  });
  await application.fetch(new Request("http://localhost/"));
  await application.stop();
  assert.deepEqual(order, [
    ...["a request", "b request", "a in", "b in", "b out", "a out"],
    ...["b answer", "a answer", "own answer", "b end", "a end", "own stop", "a stop", "b stop"],
  ]);
});

test("a request hook answers instead of the controllers", async () => {
  const rows: [NonNullable<ApplicationOptions["onRequest"]>, number, string][] = [
    [() => new Response("closed", { status: 503 }), 503, "closed"],
    [async () => new Response("closed", { status: 503 }), 503, "closed"],
    [() => Promise.reject(new Response("thrown", { status: 403 })), 403, "thrown"],
    [
      () => {
        throw new HttpError(429, "slow down");
      },
      429,
      '{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"slow down"}',
    ],
    [async () => undefined, 200, '{"id":0}'],
    [() => "ignored", 200, '{"id":0}'],
  ];
  for (const [onRequest, status, body] of rows) {
    const { application, seen } = observed({ onRequest });
    const response = await application.fetch(new Request("http://localhost/"));
    assert.deepEqual([response.status, await response.text()], [status, body]);
    assert.equal(seen[0]!.status, status);
  }
});

test("a hook that fails is a 500, and the other hooks see it", async () => {
  const logged: unknown[] = [];
  const { application, seen } = observed({
    use: [
      {
        onAnswer() {
          throw new Error("hook failed");
        },
      },
      { onEnd: () => Promise.reject(new Error("late")) },
      {
        onEnd() {
          throw new Error("later");
        },
      },
    ],
    log: (error) => logged.push((error as Error).message),
  });
  const response = await application.fetch(new Request("http://localhost/streams/whole"));
  assert.equal(response.status, 500);
  assert.equal(response.headers.get("x-status"), "500");
  assert.equal(seen[0]!.error, "hook failed");
  assert.deepEqual(logged.sort(), ["hook failed", "late", "later"]);
});

test("a header that a hook sets cannot contain another one", async () => {
  const rows: [string, string][] = [
    ["x-a", "1\r\nset-cookie: a=b"],
    ["x-a", "1\nb: 2"],
    ["x-a", "1\0"],
    ["x-a", "\u{1f600}"],
    ["x a", "1"],
    ["x-a:b", "1"],
    ["", "1"],
  ];
  for (const [name, value] of rows) {
    const { application } = observed({ onAnswer: ({ headers }) => headers.set(name, value) });
    assert.equal(
      (await application.fetch(new Request("http://localhost/"))).status,
      500,
      JSON.stringify(name),
    );
  }
});

test("the headers of an answer can be read, replaced, extended and removed", async () => {
  const { application } = observed({
    onAnswer({ headers }) {
      headers.append("Set-Cookie", "a=1");
      headers.append("set-cookie", "b=2");
      assert.equal(headers.get("SET-COOKIE"), "a=1, b=2");
      headers.set("set-cookie", "c=3");
      headers.vary("Accept");
      headers.vary("accept");
      headers.vary("Origin");
      headers.delete("Content-Type");
      assert.ok(headers.has("content-length") && !headers.has("content-type"));
      assert.deepEqual([...headers].map(([name]) => name).sort(), ["content-length", "set-cookie", "vary"]);
    },
  });
  const { headers } = await application.fetch(new Request("http://localhost/"));
  assert.deepEqual(headers.getSetCookie(), ["c=3"]);
  assert.equal(headers.get("vary"), "Accept, Origin");
});

test("the drain waits for its hook, while requests are still answered", async () => {
  const order: string[] = [];
  const application: Application = new Application({
    controllers: { Default },
    async onDrain() {
      order.push("drain");
      const answer = await fetch(`http://127.0.0.1:${running.port}/5`);
      order.push(`${answer.status} ${answer.headers.get("connection")}`);
    },
    onStop: () => void order.push("stop"),
  });
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  await running.stop();
  assert.deepEqual(order, ["drain", "200 keep-alive", "stop"]);
});

test("a hook before the drain that fails or never ends does not keep the server", async () => {
  const warned: string[] = [];
  const hooks = [() => Promise.reject(new Error("no registry")), () => new Promise(() => undefined)];
  for (const onDrain of hooks) {
    const application = new Application({
      controllers: { Default },
      onDrain,
      warn: (text) => warned.push(text),
    });
    const running = await startServer(application, { host: "127.0.0.1", port: 0 });
    await running.stop(1);
  }
  assert.deepEqual(warned, ["onDrain failed: no registry"]);
});

test("the constructor checks the parts", () => {
  for (const use of [[() => undefined], [{}], [[]], [undefined], [{ onanswer() {} }], {}])
    assert.throws(() => new Application({ use: use as never }), /INVALID_OPTION|use/);
});
