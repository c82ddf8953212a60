import { createReadStream } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { LineSplitter } from "./line-splitter.ts";

/** Bytes of a line. A longer one is damaged: a request of the greatest size is shorter. */
const LONGEST_LINE = 4 * 1024 ** 2;
/** Bytes of one read. */
const CHUNK = 256 * 1024;

export interface LogReader {
  line(text: string, bytes: number): void;
  tooLongLine(): void;
}

/**
 * Reads a log as a stream: text, or compressed with gzip or Zstandard.
 * @param source a path, or the chunks of standard input
 * @param onProgress receives the number of bytes that were read of the source
 */
export async function readLog(
  source: string | AsyncIterable<Uint8Array | string>,
  reader: LogReader,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const input =
    typeof source === "string" ? createReadStream(source, { highWaterMark: CHUNK }) : Readable.from(source);
  const splitter = new LineSplitter(
    LONGEST_LINE,
    (text, bytes) => reader.line(text, bytes),
    () => reader.tooLongLine(),
  );
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of input) {
      const buffer = Buffer.from(chunk as Uint8Array);
      bytes += buffer.length;
      yield buffer;
      onProgress(bytes);
    }
  }
  const chunks = counted();
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Buffer> {
    yield first.value as Buffer;
    yield* chunks;
  }
  await pipeline(all, decoderOf(first.value), async (decoded: AsyncIterable<Buffer>) => {
    for await (const chunk of decoded) splitter.push(chunk);
  });
  splitter.end();
}

function decoderOf(start: Buffer) {
  if (start[0] === 0x1f && start[1] === 0x8b) return createGunzip({ chunkSize: CHUNK });
  if (start.length >= 4 && start.readUInt32LE(0) === 0xfd2f_b528)
    return createZstdDecompress({ chunkSize: CHUNK });
  return new PassThrough({ highWaterMark: CHUNK });
}
