/**
 * How the embedded store's one block of shared memory is divided. Everything follows from its length, so a worker
 * needs nothing but the block to find its way.
 *
 * ```
 * header         magic, hash key, participants
 * shard 0 .. n   lock and figures | windows | segment headers | buckets | segments
 * ```
 * A *shard* is a hash table of its own under a lock of its own. A *segment* holds entries whose windows end at the
 * same second, written one after the other: when that second has passed the segment is free again as a whole, and
 * a full shard gives up segments of the window that ends first. An *entry* is a counter: see `shard.ts`.
 *
 * All positions are counted in 8-byte words from the start of the block: `p` in the Float64Array is `2p` in the
 * Int32Array.
 */
import { randomBytes } from "node:crypto";

/** The smallest block that still holds a few hundred counters. */
export const MIN_SIZE_IN_BYTES = 64 * 1024;
/** Positions in the Int32Array stay in V8's small integers up to here. */
export const MAX_SIZE_IN_BYTES = 4 * 1024 ** 3;

/** Windows with different ends that a shard can hold at once. Seven units, each with its last and its present window, need 14. */
export const MAX_WINDOWS = 64;
/** Threads that may share a block, this one included. */
export const MAX_PARTICIPANTS = 255;

const MAGIC = 0x746f_6c6c;
const MAX_SHARDS = 16;
/** Below this a shard would be so small that chance fills one while others have room. */
const MIN_SHARD_BYTES = 8 * 1024 ** 2;
const MAX_SEGMENT_BYTES = 16 * 1024;
/** Must hold the longest entry: 24 bytes, 4 of length and 512 of key. */
const MIN_SEGMENT_BYTES = 2 * 1024;
/** Bytes of a shard for each of its buckets: with usual keys (60 bytes) a full shard has 1.4 entries a bucket. */
const BYTES_PER_BUCKET = 128;

/** Int32 positions in the header. */
export const HEADER_MAGIC = 0;
export const HEADER_HASH_KEY = 1;
export const HEADER_PARTICIPANTS = 16;
const HEADER_WORDS = (HEADER_PARTICIPANTS + MAX_PARTICIPANTS + 1) / 2;

/** Word positions in a shard's first part. The lock has a cache line (64 bytes) of its own. */
export const SHARD_LIVE = 8;
export const SHARD_EVICTED = 9;
export const SHARD_EXPIRED = 10;
export const SHARD_TAKEOVERS = 11;
/** Int32 pair: first free segment + 1, segments ever used. */
export const SHARD_SEGMENTS = 12;
/** Int32 pair: windows in use, segments in use. */
export const SHARD_IN_USE = 13;
const SHARD_FIXED_WORDS = 16;
/** Words of a window: its end in seconds; Int32 pair: first segment + 1, unused. */
export const WINDOW_WORDS = 2;
/** Words of a segment header: generation; end in seconds; Int32 pair: words used (0: free), next segment + 1. */
export const SEGMENT_HEADER_WORDS = 3;

export interface Layout {
  readonly shards: number;
  /** What the first shard starts with, and how far it is to the next; in words. */
  readonly firstShard: number;
  readonly shardWords: number;
  readonly segments: number;
  readonly segmentWords: number;
  /** A power of 2. */
  readonly buckets: number;
  /** From the start of a shard, in words. */
  readonly windowsAt: number;
  readonly segmentHeadersAt: number;
  readonly bucketsAt: number;
  readonly segmentsAt: number;
}

function powerOfTwoUpTo(value: number): number {
  return 2 ** Math.floor(Math.log2(value));
}

export function layoutOf(bytes: number): Layout {
  const shards = Math.min(MAX_SHARDS, powerOfTwoUpTo(Math.max(1, bytes / MIN_SHARD_BYTES)));
  const firstShard = Math.ceil(HEADER_WORDS / 8) * 8;
  const shardWords = Math.floor((bytes / 8 - firstShard) / shards / 8) * 8;
  const shardBytes = shardWords * 8;
  const segmentBytes = Math.max(
    MIN_SEGMENT_BYTES,
    Math.min(MAX_SEGMENT_BYTES, powerOfTwoUpTo(shardBytes / 256)),
  );
  const segmentWords = segmentBytes / 8;
  const buckets = powerOfTwoUpTo(shardBytes / BYTES_PER_BUCKET);
  const windowsAt = SHARD_FIXED_WORDS;
  const segmentHeadersAt = windowsAt + MAX_WINDOWS * WINDOW_WORDS;
  const remaining = shardWords - segmentHeadersAt - buckets / 2;
  const segments = Math.floor(remaining / (segmentWords + SEGMENT_HEADER_WORDS));
  const bucketsAt = segmentHeadersAt + segments * SEGMENT_HEADER_WORDS;
  const segmentsAt = bucketsAt + buckets / 2;
  return {
    shards,
    firstShard,
    shardWords,
    segments,
    segmentWords,
    buckets,
    windowsAt,
    segmentHeadersAt,
    bucketsAt,
    segmentsAt,
  };
}

/** One block with its views. */
export interface Block {
  readonly buffer: SharedArrayBuffer;
  readonly layout: Layout;
  readonly words: Float64Array<SharedArrayBuffer>;
  readonly ints: Int32Array<SharedArrayBuffer>;
}

/**
 * A new, empty block. The operating system commits its memory page by page as it is written: 256 MiB take 0.02 ms
 * and no memory to make.
 * @throws {RangeError} for a size outside {@link MIN_SIZE_IN_BYTES} .. {@link MAX_SIZE_IN_BYTES}, or that cannot be had
 */
export function createBlock(bytes: number): Block {
  if (!(bytes >= MIN_SIZE_IN_BYTES && bytes <= MAX_SIZE_IN_BYTES))
    throw new RangeError(
      `the embedded store's size is ${bytes} bytes; it must be ${MIN_SIZE_IN_BYTES} to ${MAX_SIZE_IN_BYTES}`,
    );
  const block = viewBlock(allocate(Math.floor(bytes / 8) * 8));
  const key = randomBytes(8);
  block.ints[HEADER_HASH_KEY] = key.readInt32LE(0);
  block.ints[HEADER_HASH_KEY + 1] = key.readInt32LE(4);
  block.ints[HEADER_MAGIC] = MAGIC;
  return block;
}

function allocate(bytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (cause) {
    throw new RangeError(
      `the embedded store cannot have ${bytes} bytes of address space: choose a smaller size`,
      { cause },
    );
  }
}

/** The block that another thread made. */
export function attachBlock(buffer: SharedArrayBuffer): Block {
  const block = viewBlock(buffer);
  if (block.ints[HEADER_MAGIC] !== MAGIC)
    throw new TypeError(
      "this shared memory is not an embedded store's: pass on what EmbeddedStore.share() gave",
    );
  return block;
}

function viewBlock(buffer: SharedArrayBuffer): Block {
  return {
    buffer,
    layout: layoutOf(buffer.byteLength),
    words: new Float64Array(buffer),
    ints: new Int32Array(buffer),
  };
}
