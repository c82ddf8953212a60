import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, constants, createGunzip, gunzipSync, inflateSync } from "node:zlib";
import { Controller } from "@tollway/waymark";
import { type CompressionOptions, compression, etag } from "@tollway/waymark/kit";
import fc from "fast-check";
import { ENCODINGS } from "./encoders.ts";
import { negotiate } from "./negotiate.ts";
import { applicationWith, ask } from "./support.fixture.ts";

const LONG = "a text of many words, ".repeat(200);

let pull = (): Promise<unknown> => Promise.resolve();
let released = Promise.withResolvers<void>();

class Texts extends Controller {
  GET(kind = "text") {
    const { headers } = this.response;
    headers.set("content-type", "text/plain");
    if (kind === "short") return "short";
    if (kind === "png") headers.set("content-type", "image/png");
    if (kind === "untyped") headers.delete("content-type");
    if (kind === "untyped") return new Response(new TextEncoder().encode(LONG));
    if (kind === "encoded") headers.set("content-encoding", "gzip");
    if (kind === "partial") {
      this.response.status = 206;
      headers.set("content-range", "bytes 0-1/2");
    }
    if (kind === "fixed") headers.set("cache-control", "max-age=1, no-transform");
    if (kind === "events") headers.set("content-type", "text/event-stream");
    if (kind === "tagged") headers.set("etag", '"v1"');
    if (kind === "bytes") return new TextEncoder().encode(LONG);
    if (kind === "nothing") return undefined;
    if (kind === "pending") return pending();
    if (kind === "stream" || kind === "events") return stream();
    return LONG;
  }
}

/** Sends one piece, and waits until its reader leaves. */
function pending(): ReadableStream {
  let isFirst = true;
  return new ReadableStream({
    async pull(controller) {
      if (!isFirst) await new Promise(() => undefined);
      isFirst = false;
      controller.enqueue(new TextEncoder().encode("first "));
    },
    cancel: () => released.resolve(),
  });
}

async function* stream() {
  try {
    yield "first ";
    await pull();
    yield "é last";
  } finally {
    released.resolve();
  }
}

const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateSync };

async function get(
  path: string,
  accept: string | undefined,
  options: CompressionOptions = {},
  init: RequestInit = {},
) {
  const application = applicationWith([compression(options)], { Texts });
  const headers = accept === undefined ? {} : { "accept-encoding": accept };
  const response = await ask(application, `/texts${path}`, { ...init, headers });
  return { response, headers: response.headers, bytes: await response.bytes() };
}

for (const encoding of ENCODINGS) {
  test(`${encoding}: texts, bytes and streams come back as they were`, async () => {
    for (const [kind, expected] of [
      ["text", LONG],
      ["bytes", undefined],
      ["stream", "first é last"],
    ] as const) {
      const { headers, bytes } = await get(`/${kind}`, encoding);
      assert.equal(headers.get("vary"), "Accept-Encoding");
      assert.equal(headers.get("content-encoding"), encoding);
      assert.equal(DECODERS[encoding](bytes).toString(), expected ?? LONG);
      assert.equal(headers.get("content-length"), kind === "stream" ? null : String(bytes.length));
      if (kind !== "stream") assert.ok(bytes.length < LONG.length / 2);
    }
  });
}

test("responses that are not compressed", async () => {
  const rows: [string, string | undefined, string | null][] = [
    ["/short", "gzip", "Accept-Encoding"],
    ["/text", undefined, "Accept-Encoding"],
    ["/text", "", "Accept-Encoding"],
    ["/text", "gzip;q=0", "Accept-Encoding"],
    ["/text", "identity", "Accept-Encoding"],
    ["/text", "snappy", "Accept-Encoding"],
    ["/png", "gzip", null],
    ["/untyped", "gzip", null],
    ["/partial", "gzip", null],
    ["/fixed", "gzip", null],
    ["/nothing", "gzip", null],
    ["/events", "gzip", null],
  ];
  for (const [path, accept, vary] of rows) {
    const { headers } = await get(path, accept);
    assert.deepEqual(
      [headers.get("content-encoding"), headers.get("vary")],
      [null, vary],
      `${path} ${accept}`,
    );
  }
  assert.equal((await get("/encoded", "br")).headers.get("content-encoding"), "gzip", "not twice");
  assert.equal(
    (await get("/text", "gzip", { skip: ({ path }) => path === "/texts/text" })).headers.get("vary"),
    null,
  );
  assert.equal((await get("/short", "gzip", { threshold: 1 })).headers.get("content-encoding"), "gzip");
  assert.equal(
    (await get("/text", "br, gzip", { encodings: ["gzip"] })).headers.get("content-encoding"),
    "gzip",
  );
  assert.throws(() => compression({ encodings: ["zstd" as never] }), /cannot compress with zstd/);
});

test("HEAD has the headers of GET without a length, and a strong ETag becomes weak", async () => {
  const { headers } = await get("/text", "gzip", {}, { method: "HEAD" });
  assert.deepEqual([headers.get("content-encoding"), headers.get("content-length")], ["gzip", null]);
  assert.equal((await get("/tagged", "gzip")).headers.get("etag"), 'W/"v1"');
  assert.equal((await get("/tagged", "identity")).headers.get("etag"), '"v1"');
});

test("with ETags: a client with the compressed answer gets a 304", async () => {
  const application = applicationWith([compression(), etag()], { Texts });
  const headers = { "accept-encoding": "gzip" };
  const first = await ask(application, "/texts", { headers });
  const tag = first.headers.get("etag")!;
  assert.match(tag, /^W\//);
  assert.equal(gunzipSync(await first.bytes()).toString(), LONG);
  const again = await ask(application, "/texts", { headers: { ...headers, "if-none-match": tag } });
  assert.deepEqual([again.status, again.headers.get("content-encoding")], [304, null]);
});

test("each piece of a stream arrives at once, and a reader that leaves releases the body", async () => {
  released = Promise.withResolvers();
  const application = applicationWith([compression()], { Texts });
  const response = await ask(application, "/texts/pending", { headers: { "accept-encoding": "gzip" } });
  const reader = response.body!.getReader();
  const engine = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const shown = new Promise<string>((resolve) => engine.once("data", (piece) => resolve(String(piece))));
  const pump = async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) engine.write(step.value);
  };
  void pump();
  assert.equal(await shown, "first ");
  void reader.cancel();
  await released.promise;
});

test("a compressed stream that fails is cut off", async () => {
  pull = () => Promise.reject(new Error("half way"));
  await assert.rejects(get("/stream", "gzip"));
  pull = () => Promise.resolve();
});

test("negotiation never takes what a client refuses", () => {
  const rows: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ["*", "br"],
    ["*;q=0", undefined],
    ["gzip, *;q=0", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0.8, gzip;q=0.8", "br"],
    ["GZIP ; Q=1.0", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip;q=2", undefined],
    ["gzip;q=-1", undefined],
    ["gzip;level=9", undefined],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    [`${"a,".repeat(100_000)}gzip`, undefined],
  ];
  for (const [header, expected] of rows)
    assert.equal(negotiate(header, ENCODINGS), expected, String(header).slice(0, 40));
  const names = fc.constantFrom("br", "gzip", "deflate", "identity", "*", "x");
  const weights = fc.constantFrom(0, 0.1, 0.5, 1);
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(names, weights), { selector: ([name]) => name, maxLength: 6 }),
      (entries) => {
        const weightOf = (name: string) => entries.find(([each]) => each === name)?.[1];
        const chosen = negotiate(
          entries.map(([name, weight]) => `${name};q=${weight}`).join(", "),
          ENCODINGS,
        );
        const wanted = (name: string) => weightOf(name) ?? weightOf("*") ?? 0;
        if (chosen === undefined) return;
        assert.ok(wanted(chosen) > 0 && ENCODINGS.every((other) => wanted(other) <= wanted(chosen)));
      },
    ),
  );
});

test("without node:zlib the platform's streams compress", async () => {
  const url = new URL("./encoders.ts?without-zlib", import.meta.url);
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (() => undefined) as never;
  try {
    const web = (await import(url.href)) as typeof import("./encoders.ts");
    assert.deepEqual(web.ENCODINGS, ["gzip", "deflate"]);
    assert.equal(gunzipSync(await web.compressedBytes(LONG, "gzip")).toString(), LONG);
    const pieces: Uint8Array[] = [];
    for await (const piece of web.compressedStream(stream(), "deflate")) pieces.push(piece as Uint8Array);
    assert.equal(inflateSync(Buffer.concat(pieces)).toString(), "first é last");
    released = Promise.withResolvers();
    const left = web.compressedStream(stream(), "gzip")[Symbol.asyncIterator]();
    await left.next();
    await left.return!();
    await released.promise;
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});
