/** AWS Lambda: streamed answers, on a model of the runtime's stream. `npm run runtimes` has the runtime itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type LambdaEvent, lambda, streamingLambda } from "@tollway/waymark/lambda";
import { functionUrl, restApi } from "./support/lambda-events.ts";
import { LambdaStream, type Streamed, withStreaming } from "./support/lambda-stream.ts";

let ended = Promise.withResolvers<string>();
let written = 0;

class Answers extends Controller {
  GET(kind: string): unknown {
    const { headers } = this.response;
    headers.append("set-cookie", "a=1; HttpOnly");
    headers.append("set-cookie", "b=2");
    if (kind === "text") return new Response("text");
    if (kind === "bytes") return new Uint8Array([0x61, 0x00, 0x62]);
    if (kind === "nothing") return undefined;
    if (kind === "empty") return new Response("");
    if (kind === "unchanged") return new Response(null, { status: 304 });
    if (kind === "moved") return new Response(null, { status: 303, headers: { location: "/" } });
    if (kind === "none") return none();
    if (kind === "views") return views();
    if (kind === "stream") return counting(2);
    if (kind === "failing") return failing();
    if (kind === "endless") return counting(Number.POSITIVE_INFINITY);
    return waiting(this.signal);
  }
}

async function* none() {}

/** Pieces of a class of one's own, and an empty one. */
async function* views() {
  class Other extends Uint8Array {}
  yield new Other([0x61]);
  yield new Uint8Array();
  yield new Other([0x62]);
}

async function* counting(count: number) {
  try {
    for (let n = 1; n <= count; n++) {
      yield { n };
      written = n;
      await new Promise(setImmediate);
    }
  } finally {
    ended.resolve("counting");
  }
}

async function* failing() {
  yield { n: 1 };
  await new Promise(setImmediate);
  throw new Error("a secret");
}

/** Sends one piece, and then waits until its caller leaves. */
async function* waiting(signal: AbortSignal) {
  yield { n: 1 };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  ended.resolve("waiting");
}

const errors: string[] = [];
const application = new Application({ controllers: { Answers }, log: (error) => errors.push(String(error)) });

type Streaming = (event: LambdaEvent, stream: object) => Promise<void>;
const handler = withStreaming(() => streamingLambda(application)) as Streaming;

const get = (kind: string, method = "GET") => functionUrl({ rawPath: `/answers/${kind}` }, { method });

async function streamed(event: LambdaEvent): Promise<Streamed> {
  const stream = new LambdaStream();
  const [whole] = await Promise.all([stream.all(), handler(event, stream.facade)]);
  return whole;
}

const COOKIES = ["a=1; HttpOnly", "b=2"];
const CASES: readonly [name: string, event: LambdaEvent, status: number, headers: object, body: string][] = [
  ["text", get("text"), 200, { "content-type": "text/plain;charset=UTF-8" }, "text"],
  ["bytes", get("bytes"), 200, { "content-type": "application/octet-stream", "content-length": "3" }, "a\0b"],
  ["a stream", get("stream"), 200, { "content-type": "application/x-ndjson" }, '{"n":1}\n{"n":2}\n'],
  ["pieces of another class", get("views"), 200, { "content-type": "application/octet-stream" }, "ab"],
  // The runtime sends no head without a write.
  ["a stream without pieces", get("none"), 200, {}, ""],
  ["an empty body", get("empty"), 200, { "content-type": "text/plain;charset=UTF-8" }, ""],
  ["204", get("nothing"), 204, {}, ""],
  ["304", get("unchanged"), 304, {}, ""],
  ["a redirect", get("moved"), 303, { location: "/", "content-length": "0" }, ""],
  [
    "HEAD",
    get("bytes", "HEAD"),
    200,
    { "content-type": "application/octet-stream", "content-length": "3" },
    "",
  ],
  ["HEAD of a stream", get("stream", "HEAD"), 200, {}, ""],
];

for (const [name, event, statusCode, headers, body] of CASES)
  test(`streamed: ${name}`, async () => {
    const { head, body: sent } = await streamed(event);
    assert.deepEqual({ head, body: sent }, { head: { statusCode, headers, cookies: COOKIES }, body });
  });

test("streamed: a REST API takes headers of several values", async () => {
  const { head } = await streamed(restApi({ path: "/answers/nothing" }));
  assert.deepEqual(head, { statusCode: 204, multiValueHeaders: { "set-cookie": COOKIES } });
});

test("the caller gets each piece as it arrives", async () => {
  const stream = new LambdaStream();
  const running = handler(get("waiting"), stream.facade);
  for await (const piece of stream.inner) if (String(piece).includes('{"n":1}')) break;
  await running;
});

for (const kind of ["waiting", "endless"])
  test(`a caller that leaves ends a generator: ${kind}`, async () => {
    ended = Promise.withResolvers();
    const stream = new LambdaStream();
    const running = handler(get(kind), stream.facade);
    for await (const piece of stream.inner) if (String(piece).includes('{"n":1}')) break;
    assert.equal(await ended.promise, kind === "waiting" ? "waiting" : "counting");
    await running;
    assert.deepEqual(errors, []);
  });

test("a generator waits for a slow caller", async () => {
  const stream = new LambdaStream(100);
  written = 0;
  const running = handler(get("endless"), stream.facade);
  let last = -1;
  // Nobody reads: the generator comes to a stop.
  for (let turn = 0; turn < 200 || written !== last; turn++) {
    last = written;
    await new Promise(setImmediate);
  }
  assert.ok(written < 50, String(written));
  stream.inner.destroy();
  await running;
});

test("a stream that fails half way is left to the runtime, which ends it as failed", async () => {
  const stream = new LambdaStream();
  await assert.rejects(handler(get("failing"), stream.facade), /a secret/);
  assert.deepEqual([stream.inner.destroyed, stream.inner.writableEnded], [false, false]);
  assert.equal(errors.length, 1);
  errors.length = 0;
  stream.inner.end();
  assert.equal((await stream.all()).body, '{"n":1}\n');
});

test("an event that is no request is an error", async () => {
  const records = { Records: [{ eventSource: "aws:sqs" }] } as unknown as LambdaEvent;
  await assert.rejects(handler(records, new LambdaStream().facade), /the event is not an HTTP request/);
});

test("outside of Lambda there is no streaming handler", () => {
  assert.throws(() => streamingLambda(application), /runs only on AWS Lambda/);
  assert.equal(typeof lambda(application), "function");
});
