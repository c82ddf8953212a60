/** AWS Lambda: events in the formats of function URLs, HTTP APIs and REST APIs, and streamed answers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PassThrough, type Writable } from "node:stream";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type LambdaEvent, lambda, streamingLambda } from "@tollway/waymark/lambda";

/** Returns what the request had. */
class Echo extends Controller {
  GET({ ...keywords }: Record<string, unknown>, ...segments: string[]) {
    this.response.headers.append("set-cookie", "a=1; HttpOnly");
    this.response.headers.append("set-cookie", "b=2");
    const { remoteAddress, cookies } = this;
    const { origin } = new URL(this.request.url);
    return { segments, keywords, cookies, origin, remoteAddress, twice: this.headers.get("x-twice") };
  }
  POST({ ...keywords }: Record<string, unknown>, ...segments: string[]) {
    return { segments, keywords };
  }
}

class Answers extends Controller {
  GET(kind: string): unknown {
    if (kind === "bytes") return new Uint8Array([0xff, 0x00, 0xfe]);
    if (kind === "nothing") return undefined;
    if (kind === "failing") return failing();
    return endless(this.signal);
  }
}

let stopped = Promise.withResolvers<void>();

async function* endless(signal: AbortSignal) {
  try {
    for (let n = 1; !signal.aborted; n++) {
      yield { n };
      await new Promise(setImmediate);
    }
  } finally {
    stopped.resolve();
  }
}

async function* failing() {
  yield { n: 1 };
  throw new Error("a secret");
}

const application = new Application({ controllers: { Echo, Answers }, log: () => undefined });
const handler = lambda(application);

function recorded(name: string): LambdaEvent {
  return JSON.parse(readFileSync(new URL(`fixtures/lambda/${name}.json`, import.meta.url), "utf8"));
}

const COMMON = { cookies: {}, remoteAddress: "203.0.113.7", twice: null };
const EVENTS: readonly [name: string, expected: object][] = [
  [
    "function-url",
    {
      ...COMMON,
      segments: ["a/b", "c"],
      keywords: { n: "1", tags: ["x", "y&z"] },
      cookies: { session: "s1", theme: "dark" },
      origin: "https://abcdefgh1234.lambda-url.eu-central-1.on.aws",
    },
  ],
  ["http-api", { segments: ["50%", "what?"], keywords: { text: "grüß" } }],
  [
    "http-api-1",
    {
      ...COMMON,
      segments: ["a b"],
      keywords: { n: "2" },
      origin: "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
      twice: "one, two",
    },
  ],
  ["rest-api", { segments: ["a b"], keywords: { tags: ["x", "y&z"], text: "grüß" } }],
];

for (const [name, expected] of EVENTS)
  test(`an event of the kind ${name}`, async () => {
    const { statusCode, body, isBase64Encoded } = await handler(recorded(name));
    assert.equal(statusCode, 200, body);
    assert.equal(isBase64Encoded, false);
    assert.deepEqual(JSON.parse(body), expected);
  });

test("cookies and headers are in the form of each format", async () => {
  const { headers, cookies } = await handler(recorded("function-url"));
  assert.deepEqual(cookies, ["a=1; HttpOnly", "b=2"]);
  assert.equal(headers?.["content-type"], "application/json; charset=utf-8");
  assert.ok(!("set-cookie" in headers!));
  const { multiValueHeaders } = await handler(recorded("http-api-1"));
  assert.deepEqual(multiValueHeaders?.["set-cookie"], ["a=1; HttpOnly", "b=2"]);
});

function get(path: string): LambdaEvent {
  const event = recorded("function-url");
  return { ...event, rawPath: path, rawQueryString: "" } as LambdaEvent;
}

test("bytes that are no text are in base64, and an empty answer is empty", async () => {
  const bytes = await handler(get("/answers/bytes"));
  assert.deepEqual([bytes.body, bytes.isBase64Encoded], ["/wD+", true]);
  const nothing = await handler(get("/answers/nothing"));
  assert.deepEqual([nothing.statusCode, nothing.body], [204, ""]);
});

test("a stage is removed only where the gateway has added it", async () => {
  const event = recorded("http-api") as LambdaEvent & { rawPath: string };
  for (const [domainName, rawPath, status] of [
    ["a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", "/dev/echo/x", 200],
    ["a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", "/echo/x", 200],
    ["api.example.com", "/dev/echo/x", 404],
    ["api.example.com", "/echo/x", 200],
  ] as const) {
    const requestContext = { ...event.requestContext, domainName };
    const { statusCode } = await handler({ ...event, rawPath, requestContext } as LambdaEvent);
    assert.equal(statusCode, status, `${domainName}${rawPath}`);
  }
});

test("an event that is no request is an error", async () => {
  const records = { Records: [{ eventSource: "aws:sqs" }] } as unknown as LambdaEvent;
  await assert.rejects(handler(records), /the event is no HTTP request/);
});

/** What Lambda's Node runtime does: the head is JSON, eight zero bytes separate it from the body. */
function withStreaming<Result>(run: () => Result): Result {
  const HttpResponseStream = {
    from(stream: Writable, head: object): Writable {
      stream.write(JSON.stringify(head));
      stream.write(new Uint8Array(8));
      return stream;
    },
  };
  const awslambda = { streamifyResponse: (inner: unknown) => inner, HttpResponseStream };
  Object.assign(globalThis, { awslambda });
  try {
    return run();
  } finally {
    Reflect.deleteProperty(globalThis, "awslambda");
  }
}

type Streaming = (event: LambdaEvent, stream: Writable) => Promise<void>;
const streaming = withStreaming(() => streamingLambda(application)) as Streaming;

function parts(bytes: Buffer): { head: { statusCode: number; cookies?: string[] }; body: string } {
  const end = bytes.indexOf("\0".repeat(8));
  return { head: JSON.parse(bytes.subarray(0, end).toString()), body: bytes.subarray(end + 8).toString() };
}

async function piecesOf(stream: PassThrough): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return pieces;
}

async function streamed(event: LambdaEvent): Promise<ReturnType<typeof parts>> {
  const stream = new PassThrough();
  const [bytes] = await Promise.all([piecesOf(stream), streaming(event, stream)]);
  return parts(Buffer.concat(bytes));
}

test("a streamed answer has its head first", async () => {
  const { head, body } = await streamed(recorded("function-url"));
  assert.deepEqual([head.statusCode, head.cookies], [200, ["a=1; HttpOnly", "b=2"]]);
  assert.deepEqual(JSON.parse(body).segments, ["a/b", "c"]);
  assert.deepEqual(await streamed(get("/answers/nothing")), {
    head: { statusCode: 204, headers: {} },
    body: "",
  });
});

test("the caller gets each piece as it arrives, and a caller that leaves ends the generator", async () => {
  stopped = Promise.withResolvers();
  const stream = new PassThrough();
  const running = streaming(get("/answers/endless"), stream);
  let text = "";
  for await (const piece of stream) {
    text += piece;
    if (text.includes('{"n":3}')) break;
  }
  await stopped.promise;
  await assert.rejects(running);
});

test("a stream that fails half way is cut off", async () => {
  const stream = new PassThrough();
  const all = piecesOf(stream);
  await assert.rejects(streaming(get("/answers/failing"), stream));
  await assert.rejects(all);
});

test("outside of Lambda there is no streaming handler", () => {
  assert.throws(() => streamingLambda(application), /runs only on AWS Lambda/);
});
