import { type Count, StoreError } from "../store.ts";

/** memcached's limit, in bytes. */
const MAX_KEY_BYTES = 250;

/**
 * The whole key of a count.
 * @throws {StoreError} KEY_UNUSABLE when memcached cannot hold it: too long, or with white space or control
 *   characters (ours are percent-encoded; an operator's prefix may have some)
 */
export function keyOf(count: Count): string {
  const key = count.stem + count.windowStart;
  // A UTF-16 unit is at most 3 bytes of UTF-8: short keys need no closer look at their size.
  const bytes = key.length * 3 <= MAX_KEY_BYTES ? key.length : Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES)
    throw new StoreError(
      "KEY_UNUSABLE",
      `a cache key of ${bytes} bytes; memcached holds at most ${MAX_KEY_BYTES}`,
    );
  if (hasSpaceOrControl(key))
    throw new StoreError(
      "KEY_UNUSABLE",
      "a cache key with white space or control characters; check the prefix",
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

/** Above this memcached takes an expiry for a time since the epoch (protocol.txt, "Expiration times"). */
const LONGEST_RELATIVE = 60 * 60 * 24 * 30;

/** memcached reads it as a signed number of 32 bits. */
const LAST_EXPIRY = 2 ** 31 - 1;

/**
 * The expiry of a counter. It is relative wherever it can be: an absolute one depends on this machine's wall clock. A
 * window of 30 days loses its jitter for that.
 * @param windowSize seconds
 * @param jitter seconds
 */
export function expiryOf(windowSize: number, jitter: number, now = Date.now()): number {
  if (windowSize <= LONGEST_RELATIVE) return Math.min(windowSize + jitter, LONGEST_RELATIVE);
  return Math.min(Math.floor(now / 1000) + windowSize + jitter, LAST_EXPIRY);
}
