import type { StreamBody } from "../http/answer.ts";
import { endStream } from "../http/answer.ts";

/** A content encoding. `br` is Brotli; workers have it where they have the modules of Node. */
export type Encoding = "br" | "gzip" | "deflate";

type Zlib = typeof import("node:zlib");
type Engine = import("node:zlib").BrotliCompress | import("node:zlib").Gzip | import("node:zlib").Deflate;

/** Node, Bun, Deno and newer workers have it. It can send each piece of a stream at once, which `CompressionStream` cannot. */
const zlib: Zlib | undefined = globalThis.process?.getBuiltinModule?.("node:zlib");

/** The encodings of this runtime, the best one first. */
export const ENCODINGS: readonly Encoding[] =
  zlib === undefined ? ["gzip", "deflate"] : ["br", "gzip", "deflate"];

export async function compressedBytes(body: string | Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  if (zlib === undefined) return new Response(webStream(bytes, encoding)).bytes();
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: Uint8Array) =>
      error === null ? resolve(result) : reject(error);
    if (encoding === "br") zlib.brotliCompress(bytes, brotliOptions(zlib, bytes.length), done);
    else if (encoding === "gzip") zlib.gzip(bytes, done);
    else zlib.deflate(bytes, done);
  });
}

/** The compressed pieces of a stream. Each one arrives when its piece of the body has. */
export function compressedStream(body: StreamBody, encoding: Encoding): StreamBody {
  const engine = zlib === undefined ? undefined : engineOf(zlib, encoding);
  const pieces = engine === undefined ? webPieces(body, encoding) : enginePieces(body, engine);
  const steps: AsyncIterator<Uint8Array> = {
    next: () => pieces.next(),
    // A pending `next()` waits for the body, so the body ends first.
    async return() {
      await endStream(body);
      engine?.destroy();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => steps };
}

/** The level 4 of 11 is as fast as gzip, and still smaller. */
function brotliOptions({ constants }: Zlib, size?: number) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  return { params: size === undefined ? params : { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: size } };
}

function engineOf(of: Zlib, encoding: Encoding): Engine {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = of.constants;
  if (encoding === "br")
    return of.createBrotliCompress({ ...brotliOptions(of), flush: BROTLI_OPERATION_FLUSH });
  return encoding === "gzip"
    ? of.createGzip({ flush: Z_SYNC_FLUSH })
    : of.createDeflate({ flush: Z_SYNC_FLUSH });
}

async function* enginePieces(body: StreamBody, engine: Engine): AsyncGenerator<Uint8Array> {
  const pump = async () => {
    for await (const piece of body) {
      // The empty piece that opens an answer has nothing to compress.
      if (piece.length === 0) continue;
      if (!engine.write(piece)) await drained(engine);
      if (engine.destroyed) return;
    }
    engine.end();
  };
  pump().catch((error) => engine.destroy(error as Error));
  try {
    for await (const piece of engine) yield piece as Uint8Array;
  } finally {
    await endStream(body);
  }
}

function drained(engine: Engine): Promise<void> {
  return new Promise((resolve) => {
    engine.once("drain", resolve);
    engine.once("close", resolve);
  });
}

async function* webPieces(body: StreamBody, encoding: Encoding): AsyncGenerator<Uint8Array> {
  try {
    const encoder = new TextEncoder();
    async function* bytes() {
      for await (const piece of body) yield typeof piece === "string" ? encoder.encode(piece) : piece;
    }
    const format = formatOf(encoding);
    const source = ReadableStream.from(bytes()) as ReadableStream<Uint8Array<ArrayBuffer>>;
    yield* source.pipeThrough(new CompressionStream(format)) as AsyncIterable<Uint8Array>;
  } finally {
    await endStream(body);
  }
}

function webStream(bytes: Uint8Array, encoding: Encoding): ReadableStream<Uint8Array> {
  const blob = new Blob([bytes as Uint8Array<ArrayBuffer>]);
  return blob.stream().pipeThrough(new CompressionStream(formatOf(encoding)));
}

/** `deflate` of HTTP is the zlib format, and so it is for `CompressionStream`. */
function formatOf(encoding: Encoding): "gzip" | "deflate" {
  if (encoding === "br") throw new TypeError("this runtime cannot compress with br");
  return encoding;
}
