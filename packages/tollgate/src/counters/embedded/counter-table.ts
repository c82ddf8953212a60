/** One thread's view of the shards of a block. */
import { ExpiryClock } from "../expiry-clock.ts";
import type { HoldBlock } from "./hold-layout.ts";
import { Holds } from "./holds.ts";
import { KeyScratch } from "./key.ts";
import { type Block, HEADER_CLOCK, HEADER_HASH_KEY } from "./layout.ts";
import { StateShard } from "./state-shard.ts";

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
  readonly shards: readonly StateShard[];
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
      return new StateShard(block, index, ticket, clock, holds && new Holds(holds, index));
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

  shardOf(key: KeyScratch): StateShard {
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
}
