/** The answers of the kit on every runtime. */
import assert from "node:assert/strict";
import { type IncomingHttpHeaders, request } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { SignJWT } from "jose";

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Ask = (path: string, sent?: Sent) => Promise<Received>;

/** Asks without `fetch`, which decodes bodies and sends headers of its own. */
export function asker(url: string): Ask {
  return (path, { method = "GET", headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const asked = request(`${url}${path}`, { method, headers: { ...length, ...headers }, agent: false });
      asked.on("error", reject).on("response", (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer
          .on("error", reject)
          .on("end", () =>
            resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(pieces) }),
          );
      });
      asked.end(body);
    });
}

const text = ({ body }: Received): string => body.toString();
const json = ({ body }: Received): unknown => JSON.parse(body.toString());

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateSync } as const;
const KEY = new TextEncoder().encode("a secret of the suite, which is 32 characters long");

function token(end: string): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setSubject("ann")
    .setAudience("suite")
    .setExpirationTime(end)
    .sign(KEY);
}

/** The `cookie` header for the cookies that an answer sets. */
function cookiesOf({ headers }: Received): { readonly cookie: string } {
  const pairs = (headers["set-cookie"] ?? []).map((line) => line.slice(0, line.indexOf(";")));
  return { cookie: pairs.join("; ") };
}

export interface KitOptions {
  readonly ask: Ask;
  /** The output of the program so far. */
  readonly printed: () => string;
  readonly hasBrotli: boolean;
  readonly hasFiles: boolean;
  /** Whether clients use HTTPS, as the runtime sees it. */
  readonly isSecure: boolean;
  /** Waits until a condition holds. */
  readonly until: (holds: () => boolean) => Promise<unknown>;
}

type Case = readonly [name: string, run: () => Promise<void>];

export function kitCases(options: KitOptions): Case[] {
  return [...common(options), ...(options.hasFiles ? files(options) : [])];
}

function common({ ask, printed, hasBrotli, isSecure, until }: KitOptions): Case[] {
  return [
    [
      "request ids and the access log",
      async () => {
        const made = await ask("/id");
        assert.match(String(made.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
        assert.deepEqual(json(made), { id: made.headers["x-request-id"] });
        const given = await ask("/id?secret=1", { headers: { "x-request-id": "given-1" } });
        assert.deepEqual(json(given), { id: "given-1", secret: "1" });
        await ask("/no/such", { headers: { "x-request-id": "given-2" } });
        await until(() => printed().includes('"given-2"'));
        const lines = printed()
          .split("\n")
          .filter((line) => line.includes('"given-'));
        const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
        assert.deepEqual(
          entries.map(({ id, method, path, route, status }) => ({ id, method, path, route, status })),
          [
            { id: "given-1", method: "GET", path: "/id", route: "/id", status: 200 },
            { id: "given-2", method: "GET", path: "/no/such", route: undefined, status: 404 },
          ],
        );
      },
    ],
    [
      "spans that continue the request's trace",
      async () => {
        const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
        const continued = await ask("/trace", {
          headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
        });
        assert.equal(json(continued), traceId);
        assert.notEqual(json(await ask("/trace")), traceId);
      },
    ],
    [
      "the name of a download",
      async () => {
        const { headers } = await ask("/report");
        const name = `attachment; filename="f_r Mai.csv"; filename*=UTF-8''f%C3%BCr%20Mai.csv`;
        assert.equal(headers["content-disposition"], name);
      },
    ],
    [
      "bearer tokens",
      async () => {
        const without = await ask("/bearer");
        assert.deepEqual([without.status, without.headers["www-authenticate"]], [401, "Bearer"]);
        const wrong = await ask("/bearer", { headers: { authorization: "Bearer no" } });
        assert.equal(wrong.headers["www-authenticate"], 'Bearer error="invalid_token"');
        const right = await ask("/bearer", { headers: { authorization: "Bearer ann-s-token" } });
        assert.equal(json(right), "ann");
      },
    ],
    [
      "names and passwords",
      async () => {
        const pair = (both: string) => ({ authorization: `Basic ${Buffer.from(both).toString("base64")}` });
        assert.equal(json(await ask("/basic", { headers: pair("änn:änn-s-word") })), "änn");
        const wrong = await ask("/basic", { headers: pair("ann:no") });
        assert.deepEqual(
          [wrong.status, wrong.headers["www-authenticate"]],
          [401, 'Basic realm="own", charset="UTF-8"'],
        );
      },
    ],
    [
      "JSON Web Tokens",
      async () => {
        const bearing = async (end: string) => ({ authorization: `Bearer ${await token(end)}` });
        assert.equal(json(await ask("/token", { headers: await bearing("5m") })), "ann");
        const late = await ask("/token", { headers: await bearing("-1h") });
        assert.equal(late.status, 401);
        assert.match(text(late), /the token has expired/);
        assert.equal((await ask("/token", { headers: { authorization: "Bearer a.b.c" } })).status, 401);
      },
    ],
    [
      "sessions",
      async () => {
        const login = await ask("/login", { method: "POST", headers: FORM, body: "user=ann" });
        assert.equal(login.status, 204, text(login));
        const attributes = isSecure ? "HttpOnly; Secure; SameSite=Lax" : "HttpOnly; SameSite=Lax";
        assert.ok(String(login.headers["set-cookie"]).endsWith(attributes));
        assert.deepEqual(json(await ask("/login", { headers: cookiesOf(login) })), { user: "ann" });
        const logout = await ask("/login", { method: "DELETE", headers: cookiesOf(login) });
        assert.deepEqual(json(await ask("/login", { headers: cookiesOf(logout) })), { user: null });
        assert.deepEqual(json(await ask("/login", { headers: { cookie: "session=x" } })), { user: null });
      },
    ],
    [
      "encrypted and signed cookies",
      async () => {
        const first = await ask("/cart", { method: "POST", headers: FORM, body: "book=7" });
        const second = await ask("/cart", {
          method: "POST",
          headers: { ...FORM, ...cookiesOf(first) },
          body: "book=8",
        });
        assert.deepEqual(json(await ask("/cart", { headers: cookiesOf(second) })), [7, 8]);
        const signed = cookiesOf(await ask("/seen/today", { method: "PUT" }));
        assert.equal(json(await ask("/seen", { headers: signed })), "today");
        assert.equal((await ask("/seen", { headers: { cookie: `${signed.cookie}x` } })).status, 204);
      },
    ],
    [
      "ETags and preconditions",
      async () => {
        const { headers, status } = await ask("/book");
        const tag = String(headers.etag);
        assert.deepEqual([status, headers["cache-control"]], [200, "no-cache"]);
        const same = await ask("/book", { headers: { "if-none-match": tag } });
        assert.deepEqual([same.status, text(same)], [304, ""]);
        const put = async (more: Readonly<Record<string, string>>) =>
          (await ask("/book", { method: "PUT", headers: { ...FORM, ...more }, body: "title=Emma" })).status;
        assert.equal(await put({}), 428);
        assert.equal(await put({ "if-match": '"stale"' }), 412);
        assert.equal(await put({ "if-match": tag }), 204);
      },
    ],
    [
      "compression",
      async () => {
        const plain = text(await ask("/lines"));
        for (const encoding of ["br", "gzip", "deflate"] as const) {
          const answer = await ask("/lines", { headers: { "accept-encoding": encoding } });
          const isKnown = encoding !== "br" || hasBrotli;
          assert.equal(answer.headers["content-encoding"], isKnown ? encoding : undefined);
          assert.match(String(answer.headers.vary), /accept-encoding/i);
          assert.ok(String(isKnown ? DECODERS[encoding](answer.body) : answer.body) === plain, encoding);
        }
        const pieces = text(await ask("/pieces"));
        const stream = await ask("/pieces", { headers: { "accept-encoding": "gzip" } });
        assert.equal(stream.headers["content-encoding"], "gzip");
        assert.ok(String(gunzipSync(stream.body)) === pieces);
      },
    ],
    [
      "events after the last one",
      async () => {
        const headers = { accept: "text/event-stream", "last-event-id": "2", "accept-encoding": "gzip" };
        const answer = await ask("/events", { headers });
        assert.equal(answer.headers["content-encoding"], undefined);
        assert.equal(text(answer), 'event: count\nid: 3\ndata: {"id":3}\n\n');
      },
    ],
    [
      "CORS",
      async () => {
        const origin = "https://app.example";
        const preflight = await ask("/book", {
          method: "OPTIONS",
          headers: { origin, "access-control-request-method": "PUT" },
        });
        assert.equal(preflight.status, 204);
        assert.equal(preflight.headers["access-control-allow-origin"], origin);
        assert.match(String(preflight.headers["access-control-allow-methods"]), /PUT/);
        const other = await ask("/id", { headers: { origin: "https://other.example" } });
        assert.equal(other.headers["access-control-allow-origin"], undefined);
      },
    ],
    [
      "secure headers",
      async () => {
        const { headers } = await ask("/page");
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.match(String(headers["content-security-policy"]), /^base-uri 'none'/);
        assert.equal(headers["strict-transport-security"], isSecure ? "max-age=31536000" : undefined);
      },
    ],
    [
      "timeouts",
      async () => {
        const late = await ask("/slow");
        assert.deepEqual([late.status, late.headers["cache-control"]], [503, "no-store"]);
        assert.equal((await ask("/step")).status, 504);
      },
    ],
    [
      "a body above the limit",
      async () => {
        const body = `book=${"7".repeat(2000)}`;
        assert.equal((await ask("/cart", { method: "POST", headers: FORM, body })).status, 413);
      },
    ],
  ];
}

function files({ ask }: KitOptions): Case[] {
  return [
    [
      "files with types, ranges and ETags",
      async () => {
        const whole = await ask("/files/hello.txt");
        assert.equal(text(whole), "hello world\n");
        assert.equal(whole.headers["content-type"], "text/plain; charset=utf-8");
        assert.equal(whole.headers["cache-control"], "max-age=60");
        const range = await ask("/files/hello.txt", { headers: { range: "bytes=6-" } });
        assert.deepEqual([range.status, text(range)], [206, "world\n"]);
        const same = await ask("/files/hello.txt", {
          headers: { "if-none-match": String(whole.headers.etag) },
        });
        assert.equal(same.status, 304);
        assert.equal((await ask("/files/..%2Fapp.ts")).status, 404);
        const head = await ask("/files/hello.txt", { method: "HEAD" });
        assert.deepEqual([head.headers["content-length"], text(head)], ["12", ""]);
      },
    ],
    [
      "a form in parts",
      async () => {
        const field = '--b\r\ncontent-disposition: form-data; name="title"\r\n\r\nEmma\r\n';
        const file = '--b\r\ncontent-disposition: form-data; name="f"; filename="a.bin"\r\n\r\n';
        const body = `${field}${file}${"x".repeat(500)}\r\n--b--\r\n`;
        const headers = { "content-type": "multipart/form-data; boundary=b" };
        assert.deepEqual(json(await ask("/uploads", { method: "POST", headers, body })), [
          ["title", "Emma"],
          ["a.bin", 500],
        ]);
        const broken = await ask("/uploads", { method: "POST", headers, body: field });
        assert.equal(broken.status, 400);
      },
    ],
  ];
}
