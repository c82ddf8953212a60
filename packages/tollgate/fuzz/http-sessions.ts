/** Arbitrary clients of the HTTP port: valid requests, which must be answered, and arbitrary bytes. */
import fc from "fast-check";
import type { Ending, HttpSession, Step } from "./session.ts";

const text = fc.oneof(
  fc.constantFrom("user", "path", "k", "a|b=c%"),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.nat(4000).map((length) => "v".repeat(length)),
);

const validBodies = fc
  .record({
    domain: fc.constant("fuzz"),
    descriptors: fc.array(
      fc.record({ entries: fc.array(fc.record({ key: text, value: text }), { minLength: 1, maxLength: 4 }) }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  // JSON.stringify writes a lone surrogate as an escape.
  .map((body) => JSON.stringify(body));

function post(path: string, body: Buffer | string, headers = ""): Buffer {
  const bytes = Buffer.from(body as string);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes.length}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });

/** Splits bytes into pieces, with turns of the event loop in between. */
function pieces(bytes: Buffer, shares: readonly number[]): Step[] {
  const ends = [...shares.map((share) => Math.floor(share * bytes.length)), bytes.length].sort(
    (a, b) => a - b,
  );
  return ends.flatMap((end, index): Step[] => [
    { kind: "bytes", bytes: bytes.subarray(ends[index - 1] ?? 0, end) },
    { kind: "turns", count: 2 },
  ]);
}

const endings = fc.constantFrom<Ending>("close", "reset", "half-close", "answered");

export const validHttpSessions: fc.Arbitrary<HttpSession> = fc
  .record({ bodies: fc.array(validBodies, { minLength: 1, maxLength: 4 }), cuts, ending: endings })
  .map(({ bodies, cuts: shares, ending }) => ({
    protocol: "http",
    steps: pieces(Buffer.concat(bodies.map((body) => post("/json", body))), shares),
    expected: bodies.map(() => /^HTTP\/1\.1 (200|429) /),
    ending,
  }));

const hostileBodies: fc.Arbitrary<Buffer> = fc.oneof(
  fc.nat(1_000_000).map((digits) => {
    return Buffer.from(`{"domain":"fuzz","hitsAddend":${"9".repeat(digits)},"descriptors":[{}]}`);
  }),
  fc.nat(100_000).map((depth) => Buffer.from("[".repeat(depth))),
  fc.nat(50_000).map((count) => {
    return Buffer.from(`{"domain":"fuzz","descriptors":[${Array(count).fill("{}").join()}]}`);
  }),
  fc.json({ maxDepth: 5 }).map((json) => Buffer.from(json)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  validBodies.chain((body) =>
    fc.tuple(fc.nat(body.length), fc.uint8Array({ maxLength: 6 })).map(([at, patch]) => {
      const broken = Buffer.from(body);
      broken.set(patch.slice(0, Math.max(0, broken.length - at)), at);
      return broken;
    }),
  ),
);

const hostileHeads = fc.constantFrom(
  "",
  "Host: other\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Expect: 100-continue\r\n",
  "Connection: upgrade\r\nUpgrade: h2c\r\n",
  `X-Large: ${"v".repeat(30_000)}\r\n`,
  "Content-Length: 5\r\n",
  "Bad Name: x\r\n",
);

const hostileRequests: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("/json", "/healthcheck", "/json/x", "/%ff", "/../json"),
      hostileBodies,
      hostileHeads,
    )
    .map(([path, body, head]) => post(path, body, head)),
  fc
    .constantFrom("GET /json\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    .map(Buffer.from),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

export const hostileHttpSessions: fc.Arbitrary<HttpSession> = fc
  .record({
    requests: fc.array(hostileRequests, { minLength: 1, maxLength: 3 }),
    cuts,
    reads: fc.boolean(),
    ending: endings,
  })
  .map(({ requests, cuts: shares, reads, ending }) => ({
    protocol: "http",
    steps: [{ kind: "read", on: reads }, ...pieces(Buffer.concat(requests), shares)],
    expected: [],
    ending,
  }));
