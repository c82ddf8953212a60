import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import type { AsgiReceived, AsgiScope, AsgiSent } from "../src/serve/asgi/asgi-types.ts";
import { serveAsgi } from "./gateways/asgi-server.ts";
import type { CaseRequest } from "./table/case.ts";

const ASGI = { version: "3.0", spec_version: "2.3" };

class Default extends Controller {
  GET(...rest: string[]) {
    return { rest, target: new URL(this.request.url).pathname };
  }
  async POST() {
    let size = 0;
    for await (const piece of this.request.body!) size += piece.length;
    return size;
  }
  /** Starts to answer, then waits for its client to leave. */
  async *PUT() {
    yield "begun";
    await new Promise<void>((resolve) => this.signal.addEventListener("abort", () => resolve()));
    seen.push("aborted");
  }
  async *PATCH() {
    try {
      for (;;) yield new Uint8Array(1000);
    } finally {
      seen.push("ended");
    }
  }
  async *DELETE() {
    yield "half";
    throw new Error("the source fails");
  }
}

class Headers extends Controller {
  GET() {
    this.response.headers.set("x-latin", "caf\xe9");
    this.response.headers.set("connection", "close");
    this.response.headers.append("set-cookie", "a=1");
    this.response.headers.append("set-cookie", "b=2");
    return { agent: this.headers.get("x-agent"), cookie: this.headers.get("cookie") };
  }
}

let seen: string[] = [];
const reported: unknown[] = [];

function application(more: object = {}): Application {
  return new Application({
    controllers: { Default, Headers },
    log: (error) => reported.push(error),
    ...more,
  });
}

function request(method: string, target: string, more: Partial<CaseRequest> = {}): CaseRequest {
  return { method, target, headers: [], body: undefined, chunked: undefined, ...more };
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

test("the target is derived from raw_path, path and root_path in every variant of servers", async () => {
  const rows: [Record<string, unknown>, string[]][] = [
    [{ path: "/a/b", raw_path: bytes("/a%2Fb") }, ["a/b"]],
    [{ path: "/a/b", raw_path: null }, ["a", "b"]],
    [{ path: "/a b/ä%", raw_path: null }, ["a b", "ä%"]],
    [{ path: "/a/b", raw_path: bytes("/a/b?x=1") }, ["a", "b"]],
    // According to the specification, the path includes the root.
    [{ path: "/api/a/b", raw_path: bytes("/api/a%2Fb"), root_path: "/api" }, ["a/b"]],
    [{ path: "/api/a", raw_path: bytes("/%61pi/a"), root_path: "/api/" }, ["a"]],
    [{ path: "/api", raw_path: bytes("/api"), root_path: "/api" }, []],
    [{ path: "/apiary/a", raw_path: bytes("/apiary/a"), root_path: "/api" }, ["apiary", "a"]],
    // Older servers left it out.
    [{ path: "/a/b", raw_path: bytes("/a%2Fb"), root_path: "/api" }, ["a/b"]],
    [{ path: "/a/b", raw_path: bytes("/api/a%2Fb"), root_path: "/api" }, ["a/b"]],
    // Middleware that changed the path but not the raw path.
    [{ path: "/rewritten", raw_path: bytes("/as/it/was") }, ["rewritten"]],
    [{ path: "/\ufffd", raw_path: bytes("/%ff") }, []],
  ];
  const { asgi } = application();
  for (const [scope, rest] of rows) {
    const { status, body } = await serveAsgi(asgi, request("GET", "/"), { scope });
    if (scope.path === "/\ufffd") assert.equal(status, 400);
    else assert.deepEqual((JSON.parse(Buffer.from(body).toString()) as { rest: unknown }).rest, rest);
  }
});

test("the scope's optional members may be absent", async () => {
  const scope = {
    type: "http",
    asgi: ASGI,
    http_version: "1.0",
    method: "GET",
    path: "/x",
    headers: [],
  } as const;
  const events: AsgiSent[] = [];
  await application().asgi(
    scope,
    async () => ({ type: "http.request" }),
    async (event) => void events.push(event),
  );
  assert.equal(events.length, 2);
});

test("header bytes are Latin-1 in both directions, HTTP/2 cookies are joined, hop-by-hop headers are dropped", async () => {
  const headers = [
    [bytes("host"), bytes("x")],
    [bytes("x-agent"), bytes("\xe9")],
    [bytes("cookie"), bytes("a=1")],
    [bytes("cookie"), bytes("b=2")],
  ] as const;
  const outcome = await serveAsgi(application().asgi, request("GET", "/headers"), { scope: { headers } });
  assert.deepEqual(JSON.parse(Buffer.from(outcome.body).toString()), { agent: "é", cookie: "a=1; b=2" });
  const named = (name: string) => outcome.headers.filter(([each]) => each === name).map(([, value]) => value);
  assert.deepEqual(named("x-latin"), ["caf\xe9"]);
  assert.deepEqual(named("set-cookie"), ["a=1", "b=2"]);
  assert.deepEqual(named("connection"), []);
});

test("a body of many pieces, with empty ones between", async () => {
  const body = new Uint8Array(10_000);
  const whole = await serveAsgi(application().asgi, request("POST", "/", { body, chunked: 7 }));
  assert.equal(Buffer.from(whole.body).toString(), "10000");
  // HTTP/2 announces neither length nor chunks.
  const scope = { http_version: "2", headers: [] };
  const silent = await serveAsgi(application().asgi, request("POST", "/", { body }), { scope });
  assert.equal(Buffer.from(silent.body).toString(), "10000");
});

test("an answer that does not need the body does not wait for it", async () => {
  const never = new Promise<AsgiReceived>(() => undefined);
  const sent: AsgiSent[] = [];
  const scope: AsgiScope = {
    type: "http",
    asgi: ASGI,
    http_version: "1.1",
    method: "LOCK",
    path: "/",
    headers: [
      [bytes("host"), bytes("x")],
      [bytes("content-length"), bytes("5")],
    ],
  };
  await application().asgi(
    scope,
    () => never,
    async (event) => void sent.push(event),
  );
  assert.ok(sent[0]?.type === "http.response.start" && sent[0].status === 501);
});

test("a client that leaves before its body is complete gets no answer", async () => {
  const events: AsgiReceived[] = [
    { type: "http.request", body: bytes("abc"), more_body: true },
    { type: "http.disconnect" },
  ];
  const sent: AsgiSent[] = [];
  const scope: AsgiScope = {
    type: "http",
    asgi: ASGI,
    http_version: "1.1",
    method: "POST",
    path: "/",
    headers: [
      [bytes("host"), bytes("x")],
      [bytes("transfer-encoding"), bytes("chunked")],
    ],
  };
  await application().asgi(
    scope,
    async () => events.shift()!,
    async (event) => void sent.push(event),
  );
  assert.deepEqual(sent, []);
});

test("a client that leaves aborts the handler; nothing is sent after it", async () => {
  seen = [];
  const left = Promise.withResolvers<void>();
  const outcome = await serveAsgi(application().asgi, request("PUT", "/"), {
    left: left.promise,
    onSend: (event) => {
      if (event.type === "http.response.body") left.resolve();
    },
  });
  assert.deepEqual(seen, ["aborted"]);
  assert.equal(outcome.complete, false);
  assert.equal(outcome.thrown, undefined);
});

test("an error of send() ends the source", async () => {
  seen = [];
  let pieces = 0;
  const outcome = await serveAsgi(application().asgi, request("PATCH", "/"), {
    onSend: (event) => {
      if (event.type === "http.response.body" && ++pieces === 3) throw new Error("the client is gone");
    },
  });
  assert.deepEqual(seen, ["ended"]);
  assert.equal(outcome.thrown, undefined, "a client that leaves is not a fault of the application");
});

test("an error in the middle of the source is reported, and the answer stays incomplete", async () => {
  reported.length = 0;
  const outcome = await serveAsgi(application().asgi, request("DELETE", "/"));
  assert.equal(outcome.complete, false);
  assert.equal((outcome.thrown as Error).message, "the source fails");
  assert.deepEqual(reported, [outcome.thrown]);
});

/** Runs a lifespan with these events. Returns the messages that were sent. */
async function lifespan(app: Application, types: readonly string[]): Promise<AsgiSent[]> {
  const events = types.map((type) => ({ type }) as AsgiReceived);
  const sent: AsgiSent[] = [];
  await app.asgi(
    { type: "lifespan", asgi: ASGI },
    async () => events.shift()!,
    async (event) => void sent.push(event),
  );
  return sent;
}

test("lifespan: startup and shutdown run onStart and onStop, once", async () => {
  const calls: string[] = [];
  const app = application({ onStart: () => calls.push("start"), onStop: () => calls.push("stop") });
  assert.deepEqual(await lifespan(app, ["lifespan.startup", "lifespan.shutdown"]), [
    { type: "lifespan.startup.complete" },
    { type: "lifespan.shutdown.complete" },
  ]);
  assert.deepEqual(calls, ["start", "stop"]);
});

test("lifespan: a failed startup or shutdown is reported and ends it", async () => {
  const fails = (name: string) => ({
    [name]: () => {
      throw new Error(`${name} fails`);
    },
  });
  assert.deepEqual(await lifespan(application(fails("onStart")), ["lifespan.startup"]), [
    { type: "lifespan.startup.failed", message: "onStart fails" },
  ]);
  assert.deepEqual(await lifespan(application(fails("onStop")), ["lifespan.startup", "lifespan.shutdown"]), [
    { type: "lifespan.startup.complete" },
    { type: "lifespan.shutdown.failed", message: "onStop fails" },
  ]);
  const missing = new Application({ controllerPrefix: "nowhere" });
  const [event] = await lifespan(missing, ["lifespan.startup"]);
  assert.ok(event?.type === "lifespan.startup.failed" && /nowhere/.test(event.message));
});

test("a websocket is rejected, and an unknown scope type is an error", async () => {
  const sent: AsgiSent[] = [];
  const send = async (event: AsgiSent) => void sent.push(event);
  await application().asgi(
    { type: "websocket", asgi: ASGI },
    async () => ({ type: "websocket.connect" }),
    send,
  );
  assert.deepEqual(sent, [{ type: "websocket.close", code: 1000, reason: "" }]);
  const unknown = { type: "carrier-pigeon", asgi: ASGI } as unknown as AsgiScope;
  await assert.rejects(
    application().asgi(unknown, async () => assert.fail(), send),
    /carrier-pigeon/,
  );
});
