/** AWS Lambda: what each event becomes, and the form of its answer. `support/lambda-events.ts` names the public shapes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Application, Controller } from "@tollway/waymark";
import { type LambdaEvent, type LambdaResult, lambda } from "@tollway/waymark/lambda";
import {
  API_HOST,
  BALANCER_HOST,
  functionUrl,
  httpApi,
  httpApi1,
  loadBalancer,
  restApi,
  severalLoadBalancer,
  URL_HOST,
} from "./support/lambda-events.ts";

/** The properties of the last request. */
let seen: Record<string, unknown> = {};

class Echo extends Controller {
  protected see(segments: string[], body = ""): void {
    const { method, url, headers } = this.request;
    seen = { method, url, segments, body, remoteAddress: this.remoteAddress, cookies: { ...this.cookies } };
    for (const name of ["x-twice", "x-name", "content-type", "content-length"])
      if (headers.has(name)) seen[name] = headers.get(name);
  }
  GET({ ...keywords }: Record<string, unknown>, ...segments: string[]) {
    this.see(segments);
    return keywords;
  }
  async POST(...segments: string[]) {
    this.see(segments, Buffer.from(await this.request.arrayBuffer()).toString("hex"));
  }
  QUERY({ ...keywords }: Record<string, unknown>) {
    this.see([]);
    return keywords;
  }
}

/** Answers of every form. */
class Answers extends Controller {
  GET(kind: string): unknown {
    const { headers } = this.response;
    if (kind === "cookies")
      for (const cookie of ["a=1; HttpOnly", "b=2", "c=3"]) headers.append("set-cookie", cookie);
    if (kind === "repeated") for (const value of ["</a>", "</b>"]) headers.append("link", value);
    if (kind === "bytes") return new Uint8Array([0xff, 0x00, 0xfe]);
    if (kind === "text") return new Response("grüß \ud800\ufeff");
    if (kind === "mark") return new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]));
    if (kind === "nothing") return undefined;
    if (kind === "hop") return new Response("x", { headers: { connection: "close", "x-own": "1" } });
    if (kind === "failing") return failing();
    if (kind === "stream") return counting();
    if (kind === "unchanged") return new Response(null, { status: 304, headers: { etag: '"1"' } });
    return {};
  }
}

async function* counting() {
  for (const n of [1, 2]) yield { n };
}

async function* failing() {
  yield { n: 1 };
  throw new Error("a secret");
}

const application = new Application({ controllers: { Echo, Answers }, log: () => undefined });
const handler = lambda(application);

/** The properties of a request unless the case says otherwise. */
const PLAIN = { method: "GET", segments: [], body: "", remoteAddress: "203.0.113.7", cookies: {} };
const URL_ = `https://${URL_HOST}`;
const API = `https://${API_HOST}`;
const BALANCER = `http://${BALANCER_HOST}`;
const ZERO = { "content-length": "0" };
const JSON_BODY = { body: '{"a":"ü"}', isBase64Encoded: false };
const JSON_HEX = Buffer.from('{"a":"ü"}').toString("hex");
const BINARY = { body: "/wD+", isBase64Encoded: true };

interface Case {
  readonly event: LambdaEvent;
  readonly request: Readonly<Record<string, unknown>>;
  readonly keywords?: Readonly<Record<string, unknown>>;
}

const CASES: Readonly<Record<string, Case>> = {
  // Function URLs.
  "function URL: the least": { event: functionUrl(), request: { ...ZERO, url: `${URL_}/echo` } },
  "function URL: an encoded path and a repeated name": {
    event: functionUrl({
      rawPath: "/echo/a%2Fb/c%20d",
      rawQueryString: "n=1&tags=x&tags=y%26z&e=%C3%BC+%2B",
      queryStringParameters: { n: "1", tags: "x,y&z", e: "ü +" },
    }),
    request: {
      ...ZERO,
      url: `${URL_}/echo/a%2Fb/c%20d?n=1&tags=x&tags=y%26z&e=%C3%BC+%2B`,
      segments: ["a/b", "c d"],
    },
    keywords: { n: "1", tags: ["x", "y&z"], e: "ü +" },
  },
  "function URL: an encoded percent sign is decoded once": {
    event: functionUrl({ rawPath: "/echo/%2541" }),
    request: { ...ZERO, url: `${URL_}/echo/%2541`, segments: ["%41"] },
  },
  "function URL: the segments of the client, dots included": {
    event: functionUrl({ rawPath: "/echo/%2E%2E/x" }),
    request: { ...ZERO, url: `${URL_}/x`, segments: ["..", "x"] },
  },
  "function URL: cookies in the list and in the header": {
    event: functionUrl(
      { cookies: ["session=s1", "theme=dark"] },
      { headers: { cookie: "session=s1; theme=dark" } },
    ),
    request: { ...ZERO, url: `${URL_}/echo`, cookies: { session: "s1", theme: "dark" } },
  },
  "function URL: no cookies, as null": {
    event: functionUrl({ cookies: null, body: null }),
    request: { ...ZERO, url: `${URL_}/echo` },
  },
  "function URL: a body of bytes": {
    event: functionUrl(BINARY, {
      method: "POST",
      headers: { "content-length": "3", "content-type": "image/x" },
    }),
    request: {
      method: "POST",
      url: `${URL_}/echo`,
      body: "ff00fe",
      "content-type": "image/x",
      "content-length": "3",
    },
  },
  "function URL: a body with a method that has none": {
    event: functionUrl({ body: "x" }, { headers: { "content-length": "1" } }),
    request: { "content-length": "1", url: `${URL_}/echo` },
  },
  "function URL: values that are combined": {
    event: functionUrl({}, { headers: { "x-twice": "one,two" } }),
    request: { ...ZERO, url: `${URL_}/echo`, "x-twice": "one,two" },
  },
  // One character for each byte, as on every runtime.
  "function URL: a header beyond Latin-1": {
    event: functionUrl({}, { headers: { "x-name": "日" } }),
    request: { ...ZERO, url: `${URL_}/echo`, "x-name": "\u00e6\u0097\u00a5" },
  },
  "function URL: a method of one's own": {
    event: functionUrl(
      { body: '{"a":1}' },
      { method: "QUERY", headers: { "content-type": "application/json", "content-length": "7" } },
    ),
    request: {
      method: "QUERY",
      url: `${URL_}/echo`,
      "content-type": "application/json",
      "content-length": "7",
    },
    keywords: { a: 1 },
  },
  // HTTP APIs, payload format 2.0.
  "HTTP API: the path is decoded": {
    event: httpApi({ rawPath: "/echo/a b/50%/ü#x/%41" }),
    request: {
      ...ZERO,
      url: `${API}/echo/a%20b/50%25/%C3%BC%23x/%2541`,
      segments: ["a b", "50%", "ü#x", "%41"],
    },
  },
  "HTTP API: the query is as sent": {
    event: httpApi({ rawQueryString: "a=%20&b", queryStringParameters: { a: " ", b: "" } }),
    request: { ...ZERO, url: `${API}/echo?a=%20&b` },
    keywords: { a: " ", b: "" },
  },
  "HTTP API: a stage": {
    event: httpApi({ rawPath: "/dev/echo/x" }, { stage: "dev" }),
    request: { ...ZERO, url: `${API}/echo/x`, segments: ["x"] },
  },
  "HTTP API: the path of the stage alone": {
    event: httpApi({ rawPath: "/echo" }, { stage: "echo" }),
    request: {},
  },
  "HTTP API: the stage is also there under a domain of one's own": {
    event: httpApi({ rawPath: "/dev/echo/x" }, { stage: "dev", domainName: "api.example.com" }),
    request: { ...ZERO, url: "https://api.example.com/echo/x", segments: ["x"] },
  },
  "HTTP API: the default stage is not in the path": {
    event: httpApi({ rawPath: "/echo/$default" }),
    request: { ...ZERO, url: `${API}/echo/$default`, segments: ["$default"] },
  },
  "HTTP API: a body": {
    event: httpApi(JSON_BODY, { method: "POST", headers: { "content-length": "10" } }),
    request: { method: "POST", url: `${API}/echo`, body: JSON_HEX, "content-length": "10" },
  },
  "HTTP API: names of headers in upper case, as emulators write them": {
    event: httpApi(
      { cookies: [], body: "" },
      {
        domainName: "localhost",
        headers: { host: undefined, Host: "127.0.0.1:3000", "x-forwarded-proto": "http" },
      },
    ),
    request: { ...ZERO, url: "http://127.0.0.1:3000/echo" },
  },
  // HTTP APIs, payload format 1.0.
  "HTTP API 1.0: path and query are decoded": {
    event: httpApi1({
      path: "/echo/a b/%41",
      queryStringParameters: { n: "2", "a&b": "c=d" },
      multiValueQueryStringParameters: { n: ["1", "2"], "a&b": ["c=d"] },
    }),
    request: { url: `${API}/echo/a%20b/%2541?n=1&n=2&a%26b=c%3Dd`, segments: ["a b", "%41"] },
    keywords: { n: ["1", "2"], "a&b": "c=d" },
  },
  "HTTP API 1.0: a stage": {
    event: httpApi1({ path: "/dev/echo/x" }, { stage: "dev" }),
    request: { url: `${API}/echo/x`, segments: ["x"] },
  },
  "HTTP API 1.0: a domain of one's own has no stage": {
    event: httpApi1({ path: "/echo/x" }, { stage: "echo", domainName: "api.example.com" }),
    request: { url: "https://api.example.com/echo/x", segments: ["x"] },
  },
  // REST APIs.
  "REST API: the path is as sent, the query is decoded": {
    event: restApi({
      path: "/echo/a%2Fb/%2541",
      queryStringParameters: { tags: "y&z", plus: "a+b" },
      multiValueQueryStringParameters: { tags: ["x", "y&z"], plus: ["a+b"] },
    }),
    request: { url: `${API}/echo/a%2Fb/%2541?tags=x&tags=y%26z&plus=a%2Bb`, segments: ["a/b", "%41"] },
    keywords: { tags: ["x", "y&z"], plus: "a+b" },
  },
  "REST API: the stage is not in the path": {
    event: restApi({ path: "/echo/prod" }),
    request: { url: `${API}/echo/prod`, segments: ["prod"] },
  },
  "REST API: a path that begins like the stage": {
    event: restApi({ path: "/echo/x" }, { stage: "echo" }),
    request: { url: `${API}/echo/x`, segments: ["x"] },
  },
  "REST API: headers of several values": {
    event: restApi({}, { headers: { "X-Twice": ["one", "two"], Cookie: ["a=1", "b=2"] } }),
    request: { url: `${API}/echo`, "x-twice": "one, two", cookies: { a: "1", b: "2" } },
  },
  "REST API: the test of the console": {
    event: restApi(
      { headers: null, multiValueHeaders: null, pathParameters: null },
      { domainName: "prefix.name" },
    ),
    request: { url: "https://prefix.name/echo" },
  },
  "REST API: single values only": {
    event: restApi({
      multiValueHeaders: null,
      queryStringParameters: { n: "1" },
      headers: { host: "a.example" },
    }),
    request: { url: "https://a.example/echo?n=1" },
    keywords: { n: "1" },
  },
  "REST API: a body of bytes, without a length": {
    event: restApi({ httpMethod: "POST", ...BINARY }),
    request: { method: "POST", url: `${API}/echo`, body: "ff00fe" },
  },
  "REST API: text that is half a character": {
    event: restApi({ multiValueQueryStringParameters: { a: ["\ud800"] } }),
    request: { url: `${API}/echo?a=%EF%BF%BD` },
    keywords: { a: "\ufffd" },
  },
  // Load balancers.
  "load balancer: path and query are as sent": {
    event: loadBalancer({ path: "/echo/a%2Fb", queryStringParameters: { q: "%3Fa%3Db+c", "n%5B%5D": "1" } }),
    request: { url: `${BALANCER}/echo/a%2Fb?q=%3Fa%3Db+c&n%5B%5D=1`, segments: ["a/b"] },
    keywords: { q: "?a=b c", "n[]": "1" },
  },
  "load balancer: several values": {
    event: severalLoadBalancer(
      { multiValueQueryStringParameters: { t: ["a%20b", "c"] } },
      { "x-twice": ["one", "two"], cookie: ["a=1", "b=2"] },
    ),
    request: { url: `${BALANCER}/echo?t=a%20b&t=c`, "x-twice": "one, two", cookies: { a: "1", b: "2" } },
    keywords: { t: ["a b", "c"] },
  },
  "load balancer: its own entry in the list of addresses counts": {
    event: loadBalancer({}, { "x-forwarded-for": "192.0.2.1, 198.51.100.9", "x-forwarded-proto": "https" }),
    request: { url: `https://${BALANCER_HOST}/echo`, remoteAddress: "198.51.100.9" },
  },
  "load balancer: an address with a port": {
    event: loadBalancer({}, { "x-forwarded-for": "198.51.100.9:51234" }),
    request: { url: `${BALANCER}/echo`, remoteAddress: "198.51.100.9" },
  },
  "load balancer: an address of IPv6 with a port": {
    event: loadBalancer({}, { "x-forwarded-for": "[2001:db8::1]:51234" }),
    request: { url: `${BALANCER}/echo`, remoteAddress: "2001:db8::1" },
  },
  "load balancer: the health check": {
    event: loadBalancer({ headers: { "user-agent": "ELB-HealthChecker/2.0" } }),
    request: { url: "https://localhost/echo", remoteAddress: undefined },
  },
};

for (const [name, { event, request, keywords }] of Object.entries(CASES))
  test(name, async () => {
    seen = {};
    const { statusCode, body } = await handler(event);
    if (Object.keys(request).length === 0) return assert.equal(statusCode, 404);
    const isEmpty = request.method === "POST";
    assert.deepEqual([statusCode, seen], [isEmpty ? 204 : 200, { ...PLAIN, ...request }], body);
    if (!isEmpty) assert.deepEqual(JSON.parse(body), keywords ?? {});
  });

/** Requests that the core refuses. None of them ends the invocation. */
const REFUSED: readonly [name: string, event: LambdaEvent, status: number][] = [
  ["a method that a Request cannot have", functionUrl({}, { method: "TRACE" }), 501],
  ["a host with a path in it", functionUrl({}, { headers: { host: "a/echo" } }), 400],
  ["two hosts", restApi({}, { headers: { Host: ["a.example", "b.example"] } }), 400],
  ["an empty host and an empty path", loadBalancer({ path: "" }, { host: "" }), 404],
  ["a path that is not rooted", restApi({ path: "unknown" }), 404],
  ["a malformed escape", restApi({ path: "/echo/%zz" }), 400],
  ["a question mark in a path that is as sent", restApi({ path: "/echo?x=1" }), 404],
];

for (const [name, event, status] of REFUSED)
  test(`refused: ${name}`, async () => {
    const { statusCode, body } = await handler(event);
    assert.equal(statusCode, status, body);
  });

const NO_REQUESTS: readonly unknown[] = [
  { Records: [{ eventSource: "aws:sqs" }] },
  { version: "0", source: "aws.events", "detail-type": "Scheduled Event", detail: {} },
  // VPC Lattice, and the messages of a WebSocket API.
  { version: "2.0", path: "/health", method: "GET", headers: {}, requestContext: {} },
  { requestContext: { eventType: "MESSAGE", connectionId: "x" }, body: "x" },
  { version: "2.0", rawPath: "/" },
  { httpMethod: "GET", path: "/" },
  {},
  null,
  "text",
  1,
];

for (const event of NO_REQUESTS)
  test(`no request: ${JSON.stringify(event)}`, async () => {
    await assert.rejects(handler(event as LambdaEvent), /^TypeError: the event is not an HTTP request/);
  });

type Made = (path: string) => LambdaEvent;
const url: Made = (rawPath) => functionUrl({ rawPath });
const rest: Made = (path) => restApi({ path });
const single: Made = (path) => loadBalancer({ path });
const several: Made = (path) => severalLoadBalancer({ path });
const TEXT = { "content-type": "text/plain;charset=UTF-8" };

const ANSWERS: readonly [name: string, event: LambdaEvent, expected: LambdaResult][] = [
  [
    "cookies, for format 2.0",
    url("/answers/cookies"),
    {
      statusCode: 200,
      headers: { "content-type": "application/json; charset=utf-8", "content-length": "2" },
      cookies: ["a=1; HttpOnly", "b=2", "c=3"],
      body: "{}",
      isBase64Encoded: false,
    },
  ],
  [
    "cookies, for format 1.0",
    rest("/answers/cookies"),
    {
      statusCode: 200,
      multiValueHeaders: {
        "content-type": ["application/json; charset=utf-8"],
        "content-length": ["2"],
        "set-cookie": ["a=1; HttpOnly", "b=2", "c=3"],
      },
      body: "{}",
      isBase64Encoded: false,
    },
  ],
  [
    "cookies, for a load balancer of several values",
    several("/answers/cookies"),
    {
      statusCode: 200,
      multiValueHeaders: {
        "content-type": ["application/json; charset=utf-8"],
        "content-length": ["2"],
        "set-cookie": ["a=1; HttpOnly", "b=2", "c=3"],
      },
      body: "{}",
      isBase64Encoded: false,
    },
  ],
  [
    "cookies, for a load balancer of single values",
    single("/answers/cookies"),
    {
      statusCode: 200,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "content-length": "2",
        "set-cookie": "a=1; HttpOnly",
        "Set-cookie": "b=2",
        "sEt-cookie": "c=3",
      },
      body: "{}",
      isBase64Encoded: false,
    },
  ],
  [
    "a repeated header, for format 2.0",
    url("/answers/repeated"),
    {
      statusCode: 200,
      headers: {
        "content-type": "application/json; charset=utf-8",
        "content-length": "2",
        link: "</a>, </b>",
      },
      body: "{}",
      isBase64Encoded: false,
    },
  ],
  [
    "bytes",
    url("/answers/bytes"),
    {
      statusCode: 200,
      headers: { "content-type": "application/octet-stream", "content-length": "3" },
      body: "/wD+",
      isBase64Encoded: true,
    },
  ],
  [
    "text",
    url("/answers/text"),
    { statusCode: 200, headers: TEXT, body: "grüß \ufffd\ufeff", isBase64Encoded: false },
  ],
  [
    "a byte order mark stays",
    url("/answers/mark"),
    { statusCode: 200, headers: {}, body: "\ufeffa", isBase64Encoded: false },
  ],
  ["no content", url("/answers/nothing"), { statusCode: 204, headers: {}, body: "", isBase64Encoded: false }],
  [
    "not modified",
    rest("/answers/unchanged"),
    { statusCode: 304, multiValueHeaders: { etag: ['"1"'] }, body: "", isBase64Encoded: false },
  ],
  [
    "a stream, as a whole",
    url("/answers/stream"),
    {
      statusCode: 200,
      headers: { "content-type": "application/x-ndjson" },
      body: '{"n":1}\n{"n":2}\n',
      isBase64Encoded: false,
    },
  ],
  [
    "headers of the connection are left out",
    url("/answers/hop"),
    { statusCode: 200, headers: { ...TEXT, "x-own": "1" }, body: "x", isBase64Encoded: false },
  ],
];

for (const [name, event, expected] of ANSWERS)
  test(`the answer: ${name}`, async () => {
    assert.deepEqual(await handler(event), expected);
  });

test("the answer: HEAD has the headers of GET and no body", async () => {
  const head = await handler(functionUrl({ rawPath: "/answers/bytes" }, { method: "HEAD" }));
  assert.deepEqual(head, {
    statusCode: 200,
    headers: { "content-type": "application/octet-stream", "content-length": "3" },
    body: "",
    isBase64Encoded: false,
  });
});

test("the answer: a stream that fails before anything is sent is a 500", async () => {
  const { statusCode, headers, body } = await handler(url("/answers/failing"));
  assert.deepEqual([statusCode, headers?.["content-type"]], [500, "application/problem+json"]);
  assert.doesNotMatch(body, /secret/);
});
