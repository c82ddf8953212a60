import { constants, gunzip, gunzipSync, gzip, gzipSync } from "node:zlib";
import { GrpcError, Status } from "../status.ts";
import { OversizedMessage } from "./oversized.ts";

/** Up to here a message is inflated or deflated at once: some 0.1 ms at worst. Above, the thread pool does it. */
const INLINE_BYTES = 64 * 1024;
/** Messages that are inflated at the same time: bounds what a burst of gzip bombs can hold. */
const MAX_INFLATING = 4;

let inflating = 0;
const waiting: (() => void)[] = [];

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

function refusal(error: unknown, limit: number): GrpcError {
  return isTooLarge(error)
    ? new OversizedMessage(`the inflated message is larger than ${limit} bytes`)
    : new GrpcError(Status.INTERNAL, "the compressed message is not gzip data");
}

/** The call that needs a message. */
interface Asker {
  readonly cancelled: boolean;
}

/**
 * Inflates one message of at most `limit` bytes, at once when that is cheap. Throws or rejects with a `GrpcError`. Does
 * not inflate when the call was cancelled before its turn came.
 */
export function inflate(bytes: Uint8Array, limit: number, asker: Asker): Uint8Array | Promise<Uint8Array> {
  if (bytes.length <= INLINE_BYTES) {
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.min(limit, INLINE_BYTES) });
    } catch (error) {
      if (!isTooLarge(error) || limit <= INLINE_BYTES) throw refusal(error, limit);
    }
  }
  return inflateElsewhere(bytes, limit, asker);
}

async function inflateElsewhere(bytes: Uint8Array, limit: number, asker: Asker): Promise<Uint8Array> {
  if (inflating >= MAX_INFLATING) await new Promise<void>((resolve) => waiting.push(resolve));
  else inflating += 1;
  try {
    if (asker.cancelled) throw new GrpcError(Status.CANCELLED, "the call has ended");
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

/** For messages above the inline bound. Resolves to undefined where deflating fails: send it as it is. */
export function deflateElsewhere(message: Uint8Array): Promise<Uint8Array | undefined> {
  return new Promise((resolve) =>
    gzip(message, level, (error, result) => resolve(error ? undefined : result)),
  );
}
