/**
 * Arbitrary requests cause no 5xx, no crash, no prototype pollution, and no answer that depends on an earlier
 * request.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { startServer } from "../src/serve/node/node-server.ts";
import type { CaseRequest } from "./table/case.ts";
import { comparable } from "./table/check.ts";
import { fetchDriver, socketDriver } from "./table/drivers.ts";
import { MULTIPART, multipart } from "./table/form.ts";
import { tableApplication } from "./table/table-application.ts";

const application = tableApplication();
const viaFetch = fetchDriver(application.fetch);

/** Segments of existing routes, similar ones, and arbitrary ones. */
const segment = fc.oneof(
  fc.constantFrom(
    "foo",
    "bar",
    "users",
    "groups",
    "types",
    "shapes",
    "anything",
    "tail",
    "echo",
    "guarded",
    "raw",
  ),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "..",
    ".",
    "default",
    "GET",
  ),
  fc.integer().map(String),
  fc.string({ maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom("%", "%zz", "%ff", "%2F", "%00", "%C3%28", "+", ";a=1"),
);
const name = fc.oneof(
  fc.constantFrom("id", "verbose", "name", "number", "tags", "point", "pair", "a", "n", "body"),
  fc.constantFrom("__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "length"),
  fc.string({ maxLength: 5 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const text = fc.oneof(
  fc.integer().map(String),
  fc.double().map(String),
  fc.constantFrom(
    "",
    "true",
    "null",
    "2026-02-30",
    "https://x",
    "1e999",
    "-0",
    "9007199254740993",
    "%zz",
    "%ff",
  ),
  fc.string({ maxLength: 10 }).map((each) => encodeURIComponent(each.toWellFormed())),
);
const fields = fc
  .array(fc.tuple(name, text), { maxLength: 6 })
  .map((pairs) => pairs.map((pair) => pair.join("=")).join("&"));
const target = fc
  .tuple(fc.array(segment, { maxLength: 5 }), fc.option(fields))
  .map(([segments, query]) => `/${segments.join("/")}${query === null ? "" : `?${query}`}`);
const body = fc.oneof(
  fc.tuple(fc.constant("application/json"), fc.json({ maxDepth: 4 })),
  fc.tuple(fc.constant("application/json"), fc.string({ maxLength: 40 })),
  fc.tuple(
    fc.constant("application/json"),
    fc
      .dictionary(
        fc.oneof(fc.constantFrom("__proto__", "point", "name", "constructor"), fc.string({ maxLength: 4 })),
        fc.jsonValue({ maxDepth: 3 }),
      )
      .map((value) => JSON.stringify(value)),
  ),
  fc.tuple(fc.constant("application/x-www-form-urlencoded"), fields),
  fc.tuple(fc.constant(MULTIPART), fc.string({ maxLength: 60 })),
  fc.tuple(
    fc.constant(MULTIPART),
    fc
      .array(
        fc.tuple(
          fc.constantFrom("title", "file", "__proto__", "a"),
          fc.string({ maxLength: 20 }),
          fc.option(fc.constantFrom("x.txt", "", "..\\..")),
        ),
      )
      .map((parts) =>
        multipart(
          ...parts.map(([each, content, filename]) => ({
            name: each,
            content,
            ...(filename === null ? {} : { filename }),
          })),
        ),
      ),
  ),
  fc.tuple(
    fc.string({ maxLength: 10 }).map((each) => each.replaceAll(/[^\x21-\x7e]/g, "x")),
    fc.string({ maxLength: 20 }),
  ),
);
const header = fc.tuple(
  fc.constantFrom(
    "accept",
    "cookie",
    "origin",
    "authorization",
    "x-forwarded-for",
    "range",
    "if-none-match",
    "content-encoding",
  ),
  fc.string({ maxLength: 20 }).map((each) => each.replaceAll(/[^\x21-\x7e]/g, "y").trim() || "z"),
);
const request: fc.Arbitrary<CaseRequest> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"),
    target,
    headers: fc.array(header, { maxLength: 3 }),
    body: fc.option(body),
    chunked: fc.option(fc.integer({ min: 1, max: 50 })),
  })
  .map(({ method, target, headers, body, chunked }) => {
    const [type, content] = method === "GET" || method === "HEAD" ? [] : (body ?? []);
    const unique = [...new Map(headers)];
    return {
      method,
      target,
      headers: type === undefined || type === "" ? unique : [...unique, ["content-type", type] as const],
      body: content === undefined ? undefined : new TextEncoder().encode(content),
      chunked: content === undefined || content === "" ? undefined : (chunked ?? undefined),
    };
  });

/** The members of the prototypes, to detect changes. */
function prototypes(): string {
  return [Object.prototype, Array.prototype, Function.prototype, Map.prototype]
    .map((each) => Reflect.ownKeys(each).map(String).join())
    .join("|");
}

/** These rows of the fixture fail intentionally. */
const MEANT = /^\/(\/)*(answers|http-status|http_status)/;

test("no request through fetch has a 5xx other than 501, or leaves a trace", async () => {
  const before = prototypes();
  const reference = tableApplication();
  await fc.assert(
    fc.asyncProperty(request, async (each) => {
      if (MEANT.test(new URL(`http://x${each.target}`).pathname)) return;
      const answer = await viaFetch(each);
      assert.ok(answer.status < 500 || answer.status === 501, `${answer.status} ${Buffer.from(answer.body)}`);
      assert.equal(prototypes(), before);
      // A fresh application gives the same answer.
      assert.deepEqual(comparable(await fetchDriver(reference.fetch)(each)), comparable(answer));
    }),
    { numRuns: 1_500 },
  );
});

test("an answer does not depend on earlier requests", async () => {
  await fc.assert(
    fc.asyncProperty(request, fc.array(request, { maxLength: 4 }), async (each, others) => {
      const first = comparable(await viaFetch(each));
      await Promise.all(others.map((other) => viaFetch(other)));
      assert.deepEqual(comparable(await viaFetch(each)), first);
    }),
    { numRuns: 300 },
  );
});

test("any request has the same answer through a socket as through fetch", async () => {
  const running = await startServer(application, { host: "127.0.0.1", port: 0 });
  const viaSocket = socketDriver(running.port);
  try {
    await fc.assert(
      fc.asyncProperty(request, async (each) => {
        // A target that a WHATWG Request rewrites would be another request.
        if (new Request(`http://localhost${each.target}`).url !== `http://localhost${each.target}`) return;
        assert.deepEqual(comparable(await viaSocket(each)), comparable(await viaFetch(each)));
      }),
      { numRuns: 400 },
    );
    // Bytes that are not HTTP end only their own connection.
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const { connect } = await import("node:net");
        const socket = connect(running.port, "127.0.0.1");
        socket.on("error", () => undefined);
        socket.end(bytes);
        await new Promise((resolve) => socket.resume().on("close", resolve));
      }),
      { numRuns: 100 },
    );
    assert.equal((await fetch(`http://127.0.0.1:${running.port}/`)).status, 200);
  } finally {
    await running.stop();
  }
});
