/**
 * The layout of the embedded store's block of shared memory. The length of the block determines every position, so a
 * worker needs nothing but the block.
 *
 * ```
 * header         magic, hash key, participants, clock
 * shard 0 .. n   lock and figures | lists | segment headers | buckets | segments
 * ```
 * A *shard* is a hash table with its own lock. A *segment* holds entries of one list (see `lists.ts`), one after
 * the other. An *entry* is a counter (see `entry.ts`).
 *
 * All positions count 8-byte words from the start of the block: `p` in the Float64Array is `2p` in the Int32Array.
 */
import { randomBytes } from "node:crypto";
import { EXPIRY_CLOCK_WORDS } from "../expiry-clock.ts";
import { LIST_COUNT } from "./lists.ts";

/** The smallest block that still holds a few hundred counters. */
export const MIN_SIZE_IN_BYTES = 64 * 1024;
/** Up to this size all Int32Array positions are small integers of V8. */
export const MAX_SIZE_IN_BYTES = 4 * 1024 ** 3;

/** Threads that may share a block, this one included. */
export const MAX_PARTICIPANTS = 255;

const MAGIC = 0x746f_6c6c;
const MAX_SHARDS = 16;
/** Smaller shards would fill unevenly: chance would fill one shard while others have space. */
const MIN_SHARD_BYTES = 8 * 1024 ** 2;
const MAX_SEGMENT_BYTES = 8 * 1024;
/** Fits the longest entry: 24 bytes, 4 of length and 512 of key. */
const MIN_SEGMENT_BYTES = 1024;
/** Bytes of a shard for each bucket: with keys of 60 bytes a full shard has 1.4 entries in each bucket. */
const BYTES_PER_BUCKET = 128;

/** Int32 positions in the header. */
export const HEADER_MAGIC = 0;
export const HEADER_HASH_KEY = 1;
export const HEADER_PARTICIPANTS = 16;
/** Word position of the expiry clock. */
export const HEADER_CLOCK = (HEADER_PARTICIPANTS + MAX_PARTICIPANTS + 1) / 2;
const HEADER_WORDS = HEADER_CLOCK + EXPIRY_CLOCK_WORDS;

/** Word positions in a shard's first part. The lock has its own cache line (64 bytes). */
export const SHARD_LIVE = 8;
export const SHARD_EVICTED = 9;
export const SHARD_EVICTED_PROTECTED = 10;
export const SHARD_EXPIRED = 11;
export const SHARD_TAKEOVERS = 12;
/** The last generation of any segment of this shard. */
export const SHARD_GENERATION = 13;
/** Int32 pair: first free segment + 1; segments ever used. */
export const SHARD_SEGMENTS = 14;
/** Int32 pair: segments in use; segment whose entries are being moved + 1. */
export const SHARD_IN_USE = 15;
/** Int32 each: segments of each class. */
export const SHARD_CLASSES = 16;
/** Two words for each list: Int32 pairs of the first and the last segment + 1, for the ordinary and the protected queue. */
export const SHARD_LISTS = 18;
export const LIST_WORDS = 2;
const SHARD_FIXED_WORDS = SHARD_LISTS + LIST_COUNT * LIST_WORDS;
/**
 * Words of a segment header: generation; end of the last state in seconds; Int32 pairs: words used (0: free) and
 * entries; protected entries and place (see `segments.ts`); previous and next segment + 1.
 */
export const SEGMENT_HEADER_WORDS = 5;

export interface Layout {
  readonly shards: number;
  /** Start of the first shard, and the distance to the next one, in words. */
  readonly firstShard: number;
  readonly shardWords: number;
  readonly segments: number;
  readonly segmentWords: number;
  /** A power of 2. */
  readonly buckets: number;
  /** Offsets from the start of a shard, in words. */
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
  const segmentHeadersAt = SHARD_FIXED_WORDS;
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
 * Creates an empty block. The operating system commits its memory page by page at the first write: a block of 256 MiB
 * takes 0.02 ms to create and no memory.
 * @throws {RangeError} for a size outside {@link MIN_SIZE_IN_BYTES} .. {@link MAX_SIZE_IN_BYTES}, or if the address space is too small
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
      `cannot reserve ${bytes} bytes of address space for the embedded store: choose a smaller size`,
      { cause },
    );
  }
}

/** Attaches to the block of another thread. */
export function attachBlock(buffer: SharedArrayBuffer): Block {
  const block = viewBlock(buffer);
  if (block.ints[HEADER_MAGIC] !== MAGIC)
    throw new TypeError(
      "this shared memory does not belong to an embedded store: pass the result of EmbeddedStore.share()",
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
