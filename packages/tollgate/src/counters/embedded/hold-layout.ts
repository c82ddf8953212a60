/**
 * The layout of the memory for holds. It is a block of its own beside the counters: plain decisions never touch it.
 *
 * ```
 * header         magic, seeds of the digests
 * shard 0 .. n   figures | buckets | heap | slots
 * ```
 * The locks are those of the counters' shards: a counter and its holds change together. A *slot* has 64 bytes, as words
 * of 8 bytes, or as Int32:
 *
 * ```
 *          hold                                    ledger of a counter           mark of a commit
 * 0        kind | next slot of the bucket          the same                      the same
 * 1, 2     token xor digest of the counter's key   digest of the counter's key   as in a hold
 * 3        hits                                    hits of its open holds        –
 * 4        end of its time to live                 hits of ended holds           when it is forgotten
 * 5        slot of its ledger | place in the heap  number of open holds | of all –
 * 6        when it stops counting                  hash of the counter's key     the same
 *                                                  | whether a snapshot restored it, and no call has read it since
 * 7        –                                       next | in the queue           next in the queue | –
 * ```
 * Instants are milliseconds since the epoch.
 */
import { randomBytes } from "node:crypto";

export const SLOT_WORDS = 8;
/** Int32 positions in a slot. */
export const KIND = 0;
export const NEXT = 1;
export const KEY = 2;
export const LEDGER = 10;
export const HEAP_AT = 11;
export const OPEN = 10;
export const ALL = 11;
export const HASH = 12;
export const RESTORED = 13;
export const QUEUE_NEXT = 14;
export const QUEUED = 15;
/** Word positions in a slot. */
export const AMOUNT = 3;
export const END = 4;
export const UNTIL = 6;

export const Kind = {
  FREE: 0,
  /** An open hold. */
  HOLD: 1,
  /** Its window has ended, but its time to live has not. */
  LAPSED: 2,
  LEDGER: 3,
  COMMITTED: 4,
} as const;

/** Int32 positions in a shard's figures. */
export const USED = 0;
export const FREE_LIST = 1;
export const HEAP_SIZE = 2;
export const QUEUE_FIRST = 3;
export const QUEUE_LAST = 4;
export const COMMITS = 5;
/** Slots in the list of free ones. */
export const FREE = 6;
const FIGURES = 16;

const MAGIC = 0x686f_6c64;
const HEADER_INTS = 16;
export const HEADER_SEEDS = 4;
export const SEEDS = 2;

/** The memory for holds, as a share of that for counters, with a least size for each shard. */
const SHARE = 1 / 8;
const MIN_SHARD_BYTES = 1024 ** 2;

export interface HoldBlock {
  readonly buffer: SharedArrayBuffer;
  readonly words: Float64Array<SharedArrayBuffer>;
  readonly ints: Int32Array<SharedArrayBuffer>;
  /** Slots of each shard. */
  readonly slots: number;
  /** Buckets of each shard: a power of 2. */
  readonly buckets: number;
  /** Int32 positions of a shard's parts, from its start, and its length. */
  readonly heapAt: number;
  readonly slotsAt: number;
  readonly shardInts: number;
}

/**
 * Creates an empty block. The operating system commits its memory page by page at the first write.
 * @param sizeInBytes of the counters
 * @param shards of the counters
 */
export function createHoldBlock(sizeInBytes: number, shards: number): HoldBlock {
  const bytes = Math.max((sizeInBytes * SHARE) / shards, MIN_SHARD_BYTES);
  const block = viewHoldBlock(
    new SharedArrayBuffer(HEADER_INTS * 4 + Math.floor(bytes / 64) * 64 * shards),
    shards,
  );
  const seeds = randomBytes(SEEDS * 4);
  for (let index = 0; index < SEEDS; index++) block.ints[HEADER_SEEDS + index] = seeds.readInt32LE(index * 4);
  block.ints[0] = MAGIC;
  return block;
}

export function viewHoldBlock(buffer: SharedArrayBuffer, shards: number): HoldBlock {
  const shardInts = (buffer.byteLength / 4 - HEADER_INTS) / shards;
  // A slot has its 64 bytes, a place in the heap, and up to two buckets.
  const most = Math.floor((shardInts - FIGURES) / (SLOT_WORDS * 2 + 3));
  const buckets = 2 ** Math.floor(Math.log2(most * 2));
  const slots = most - 1;
  const heapAt = FIGURES + buckets;
  const slotsAt = Math.ceil((heapAt + slots) / 2) * 2;
  return {
    buffer,
    words: new Float64Array(buffer),
    ints: new Int32Array(buffer),
    slots,
    buckets,
    heapAt,
    slotsAt,
    shardInts,
  };
}

/** Int32 position of a shard. */
export function holdShardAt({ shardInts }: HoldBlock, index: number): number {
  return HEADER_INTS + index * shardInts;
}

/** Int32 position of the buckets, from the start of a shard. */
export const BUCKETS_AT = FIGURES;
