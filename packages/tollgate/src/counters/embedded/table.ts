/** The shards of one block, as one thread sees them. */
import { KeyScratch } from "./key.ts";
import {
  type Block,
  HEADER_HASH_KEY,
  SHARD_EVICTED,
  SHARD_EXPIRED,
  SHARD_LIVE,
  SHARD_TAKEOVERS,
} from "./layout.ts";
import { COUNT_WORD, Shard } from "./shard.ts";

/** Plain numbers for gauges. */
export interface EmbeddedStoreStatistics {
  /** Counters held; those of a window that is over among them until it is reclaimed. */
  readonly liveCounters: number;
  /** Bytes of memory that hold counters or stand ready for more of the same window. */
  readonly bytesUsed: number;
  readonly sizeInBytes: number;
  /** Counters given up before their window's end because the store was full. */
  readonly evicted: number;
  /** Counters reclaimed after their window's end. */
  readonly expired: number;
  /** Locks taken over from threads that died with them. */
  readonly takeovers: number;
}

export class Table {
  readonly block: Block;
  readonly shards: readonly Shard[];
  /** The top bits of a hash choose the shard; its bottom bits choose the bucket. */
  readonly #shardShift: number;

  constructor(block: Block, ticket: number) {
    this.block = block;
    const { shards } = block.layout;
    this.shards = Array.from({ length: shards }, (_, index) => new Shard(block, index, ticket));
    this.#shardShift = 32 - Math.log2(shards);
  }

  shardIndexOf(hash: number): number {
    // A shift by 32 is a shift by 0: one shard needs its own case.
    return this.#shardShift === 32 ? 0 : hash >>> this.#shardShift;
  }

  /** A place to make a key in, with this table's hash. */
  newKey(): KeyScratch {
    const { ints } = this.block;
    return new KeyScratch(ints[HEADER_HASH_KEY]!, ints[HEADER_HASH_KEY + 1]!);
  }

  shardOf(key: KeyScratch): Shard {
    return this.shards[this.shardIndexOf(key.hash)]!;
  }

  /** Sets a counter, whatever it was. */
  put(key: KeyScratch, windowStart: number, windowEnd: number, count: number, now: number): void {
    const shard = this.shardOf(key);
    shard.acquire();
    const entry = shard.find(key, windowStart);
    if (entry !== 0) shard.words[entry + COUNT_WORD] = count;
    else shard.insert(key, windowStart, windowEnd, count, now);
    shard.release();
  }

  /**
   * Frees up to `most` segments of windows that are over in each shard. A shard that is busy is left for the next
   * time: nobody waits for this, and it fails for nobody.
   * @param now milliseconds
   */
  reclaim(now: number, most: number): void {
    for (const shard of this.shards) {
      if (!shard.tryAcquire()) continue;
      shard.reclaim(now, most);
      shard.release();
    }
  }

  statistics(): EmbeddedStoreStatistics {
    const { buffer, layout } = this.block;
    const sum = (figure: (shard: Shard) => number) =>
      this.shards.reduce((total, shard) => total + figure(shard), 0);
    return {
      liveCounters: sum((shard) => shard.figure(SHARD_LIVE)),
      bytesUsed: sum((shard) => shard.segmentsInUse()) * layout.segmentWords * 8,
      sizeInBytes: buffer.byteLength,
      evicted: sum((shard) => shard.figure(SHARD_EVICTED)),
      expired: sum((shard) => shard.figure(SHARD_EXPIRED)),
      takeovers: sum((shard) => shard.figure(SHARD_TAKEOVERS)),
    };
  }
}
