import { type Count, StoreError } from "../store.ts";

/** memcached's limit, in bytes. */
const MAX_KEY_BYTES = 250;

/**
 * The memcached key of a count.
 * @throws {StoreError} KEY_UNUSABLE for a key that is too long, or has white space or control characters (our keys are
 *   percent-encoded; an operator's prefix may have such characters)
 */
export function keyOf(count: Count): string {
  const key = count.stem + count.windowStart;
  // A UTF-16 unit is at most 3 bytes of UTF-8, so short keys need no exact measurement.
  const bytes = key.length * 3 <= MAX_KEY_BYTES ? key.length : Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES)
    throw new StoreError(
      "KEY_UNUSABLE",
      `the cache key has ${bytes} bytes; memcached allows at most ${MAX_KEY_BYTES}`,
    );
  if (hasSpaceOrControl(key))
    throw new StoreError(
      "KEY_UNUSABLE",
      "the cache key has white space or control characters; check CACHE_KEY_PREFIX",
    );
  return key;
}

function hasSpaceOrControl(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    if (unit <= 32 || unit === 127) return true;
  }
  return false;
}

/** memcached treats larger expiries as seconds since the epoch (protocol.txt, "Expiration times"). */
const LONGEST_RELATIVE = 60 * 60 * 24 * 30;

/** memcached reads expiries as signed 32-bit numbers. */
const LAST_EXPIRY = 2 ** 31 - 1;

/**
 * The expiry of a counter. It is relative if possible: an absolute one depends on this machine's wall clock. So a window
 * of 30 days has no jitter.
 * @param windowSize seconds
 * @param jitter seconds
 */
export function expiryOf(windowSize: number, jitter: number, now = Date.now()): number {
  if (windowSize <= LONGEST_RELATIVE) return Math.min(windowSize + jitter, LONGEST_RELATIVE);
  return Math.min(Math.floor(now / 1000) + windowSize + jitter, LAST_EXPIRY);
}
