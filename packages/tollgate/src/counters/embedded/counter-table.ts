/** One thread's view of the shards of a block. */
import { ExpiryClock } from "../expiry-clock.ts";
import type { HoldBlock } from "./hold-layout.ts";
import { Holds } from "./holds.ts";
import { KeyScratch } from "./key.ts";
import {
  type Block,
  HEADER_CLOCK,
  HEADER_HASH_KEY,
  SHARD_EVICTED,
  SHARD_EVICTED_PROTECTED,
  SHARD_EXPIRED,
  SHARD_LIVE,
  SHARD_TAKEOVERS,
} from "./layout.ts";
import { Shard } from "./shard.ts";

/** Figures for gauges. */
export interface EmbeddedStoreStatistics {
  /** Current counters, including counters of ended windows that are not reclaimed yet. */
  readonly liveCounters: number;
  /** Bytes of the segments in use. */
  readonly bytesUsed: number;
  readonly sizeInBytes: number;
  /** Counters that a full store evicted before their window's end. */
  readonly evicted: number;
  /** Evicted counters that had used up their limit. */
  readonly evictedProtected: number;
  /** Counters dropped after their window's end. */
  readonly expired: number;
  /** Locks that were taken over from ended threads. */
  readonly takeovers: number;
}

/** A counter from a snapshot. Times in seconds. */
export interface SavedCounter {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  /** More words of its state: see `entry.ts`. */
  readonly more: readonly number[];
  readonly isProtected: boolean;
}

export class CounterTable {
  readonly block: Block;
  readonly shards: readonly Shard[];
  /** Shared by all threads. The thread that created the block updates it. */
  readonly clock: ExpiryClock;
  /** The top bits of a hash choose the shard; its bottom bits choose the bucket. */
  readonly #shardShift: number;

  /**
   * @param monotonic a monotonic clock in milliseconds, the same in all threads. Default: the system's.
   * @param holds memory for holds. Without it the table has counters only.
   */
  constructor(block: Block, ticket: number, monotonic?: () => number, holds?: HoldBlock) {
    this.block = block;
    const { shards } = block.layout;
    const clock = new ExpiryClock(block.words, HEADER_CLOCK, monotonic);
    this.clock = clock;
    this.shards = Array.from({ length: shards }, (_, index) => {
      return new Shard(block, index, ticket, clock, holds && new Holds(holds, index));
    });
    this.#shardShift = 32 - Math.log2(shards);
  }

  shardIndexOf(hash: number): number {
    // A shift by 32 is a shift by 0: one shard needs its own case.
    return this.#shardShift === 32 ? 0 : hash >>> this.#shardShift;
  }

  /** A buffer for keys, with this table's hash key. */
  newKey(): KeyScratch {
    const { ints } = this.block;
    return new KeyScratch(ints[HEADER_HASH_KEY]!, ints[HEADER_HASH_KEY + 1]!);
  }

  shardOf(key: KeyScratch): Shard {
    return this.shards[this.shardIndexOf(key.hash)]!;
  }

  /** Adds a counter, or sets it. Times in seconds, `now` in milliseconds. */
  put(key: KeyScratch, saved: SavedCounter, now: number): void {
    const { start, end, count, more, isProtected } = saved;
    const shard = this.shardOf(key);
    shard.acquire();
    const entry = shard.find(key, start);
    const state = { level: count, at: more[0] ?? 0, previous: more[1] ?? 0 };
    // A state that is not of one window starts at 0.
    const length = start === 0 ? Math.max(end - Math.floor(now / 1000), 1) : end - start;
    if (entry !== 0) shard.writeState(entry, state, isProtected);
    else shard.insertState(key, { start, end, length }, state, more.length + 1, isProtected, now);
    shard.release();
  }

  /**
   * Frees segments of ended states in each shard. Skips busy shards.
   * @param now milliseconds, by the wall clock
   * @param examine segments of a shard to examine; each call continues after the last one
   * @param most segments of a shard to free
   */
  reclaim(now: number, examine: number, most: number): void {
    for (const shard of this.shards) {
      if (!shard.tryAcquire()) continue;
      shard.reclaim(now, examine, most);
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
      evictedProtected: sum((shard) => shard.figure(SHARD_EVICTED_PROTECTED)),
      expired: sum((shard) => shard.figure(SHARD_EXPIRED)),
      takeovers: sum((shard) => shard.figure(SHARD_TAKEOVERS)),
    };
  }
}
