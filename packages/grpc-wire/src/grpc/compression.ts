import { constants, gunzip, gunzipSync, gzip, gzipSync } from "node:zlib";
import { GrpcError, Status } from "../status.ts";
import { OversizedMessage } from "./oversized.ts";

/** Messages up to this size are compressed and decompressed in place, in at most 0.1 ms. Larger ones use the thread pool. */
const INLINE_BYTES = 64 * 1024;
/** The maximum number of messages that are decompressed at the same time. It bounds the memory of gzip bombs. */
const MAX_INFLATING = 4;

let inflating = 0;
const waiting: (() => void)[] = [];

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

function refusal(error: unknown, limit: number): GrpcError {
  return isTooLarge(error)
    ? new OversizedMessage(`the decompressed message exceeds ${limit} bytes`)
    : new GrpcError(Status.INTERNAL, "the compressed message is not gzip data");
}

/** The call of a message. */
interface Cancellable {
  readonly cancelled: boolean;
}

/**
 * Decompresses one message to at most `limit` bytes, without a promise when that is cheap. Throws or rejects with a
 * `GrpcError`. Skips the message of a call that is cancelled while it waits.
 */
export function inflate(
  bytes: Uint8Array,
  limit: number,
  call: Cancellable,
): Uint8Array | Promise<Uint8Array> {
  if (bytes.length <= INLINE_BYTES) {
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.min(limit, INLINE_BYTES) });
    } catch (error) {
      if (!isTooLarge(error) || limit <= INLINE_BYTES) throw refusal(error, limit);
    }
  }
  return inflateInPool(bytes, limit, call);
}

async function inflateInPool(bytes: Uint8Array, limit: number, call: Cancellable): Promise<Uint8Array> {
  if (inflating >= MAX_INFLATING) await new Promise<void>((resolve) => waiting.push(resolve));
  else inflating += 1;
  try {
    if (call.cancelled) throw new GrpcError(Status.CANCELLED, "the call has ended");
    return await new Promise<Uint8Array>((resolve, reject) => {
      gunzip(bytes, { maxOutputLength: limit }, (error, result) => {
        if (error) reject(refusal(error, limit));
        else resolve(result);
      });
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else inflating -= 1;
  }
}

const level = { level: constants.Z_BEST_SPEED };

export function isDeflatedInline(message: Uint8Array): boolean {
  return message.length <= INLINE_BYTES;
}

export function deflate(message: Uint8Array): Uint8Array {
  return gzipSync(message, level);
}

/** Compresses a large message in the thread pool. Resolves to undefined when that fails: the message is then sent as it is. */
export function deflateInPool(message: Uint8Array): Promise<Uint8Array | undefined> {
  return new Promise((resolve) =>
    gzip(message, level, (error, result) => resolve(error ? undefined : result)),
  );
}
