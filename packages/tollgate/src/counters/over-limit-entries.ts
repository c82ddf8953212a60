/**
 * The counters that are above their limit: a map that is bounded in bytes. A full map drops its oldest entry. Each
 * addition checks two other entries for their end, so ended entries disappear faster than new ones arrive.
 */

import { stringBytes } from "../observe/text-memory.ts";
import { ExpiryClock } from "./expiry-clock.ts";
import { type Invalidations, isNewer, slotOf } from "./invalidations.ts";
import type { Count } from "./store.ts";

/** Gauges. Their names are those of the Go service, so its dashboards keep working. */
export interface OverLimitCacheGauges {
  /** Entries that a full cache dropped. */
  readonly evacuateCount: number;
  /** Entries that were dropped after their window's end. */
  readonly expiredCount: number;
  readonly entryCount: number;
  /** The mean of the entries' last uses, in seconds since the epoch; 0 for an empty cache. */
  readonly averageAccessTime: number;
  readonly hitCount: number;
  readonly missCount: number;
  readonly lookupCount: number;
  /** Entries that were replaced before their window's end, because the limit changed. */
  readonly overwriteCount: number;
}

/** Times in seconds, so that V8 keeps them as small integers and not as objects. */
interface Entry {
  readonly stem: string;
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly limit: number;
  readonly bytes: number;
  /** See `invalidations.ts`. */
  readonly slot: number;
  readonly mark: number;
  lastUse: number;
}

/**
 * An entry, its place in a Map that has just grown, and the headers of its string. The cache's own figure is then
 * within 5 % of V8's memory use, for 450 to 57,000 entries and stems of 12 to 4,000 characters.
 */
const ENTRY_BYTES = 192;
/** Entries that each addition checks for their end. */
const SWEEP = 2;

/** The window of a counter, with its limit. */
type CountedWindow = Pick<Count, "stem" | "windowStart" | "windowSize" | "limit">;

export class OverLimitEntries {
  readonly #capacity: number;
  readonly #invalidations: Invalidations;
  readonly #entries = new Map<string, Entry>();
  /** Points to the oldest entry: it has passed dropped entries only. (A new iterator would skip the Map's holes each time.) */
  #oldest: Iterator<Entry> = this.#entries.values();
  /** Cycles through the entries and finds those whose window has ended. */
  #sweeper: Iterator<Entry> = this.#entries.values();
  /** Keeps entries while the wall clock is temporarily ahead. */
  readonly #clock: ExpiryClock;
  #bytes = 0;
  #lastUses = 0;
  #evacuated = 0;
  #expired = 0;
  #hits = 0;
  #misses = 0;
  #overwritten = 0;

  /** @param capacity bytes */
  constructor(capacity: number, invalidations: Invalidations, monotonic?: () => number) {
    this.#capacity = capacity;
    this.#invalidations = invalidations;
    this.#clock = new ExpiryClock(undefined, 0, monotonic);
  }

  /** Whether the cache holds this counter, for the limit of this count. */
  knows(count: CountedWindow, now: number): boolean {
    const entry = this.#entries.get(count.stem);
    if (
      entry === undefined ||
      entry.windowStart !== count.windowStart ||
      entry.limit !== count.limit ||
      entry.windowEnd * 1000 <= now
    ) {
      this.#misses += 1;
      return false;
    }
    if (this.#invalidations.mark(entry.slot) !== entry.mark) {
      this.#drop(entry);
      this.#misses += 1;
      return false;
    }
    this.#hits += 1;
    const seconds = Math.floor(now / 1000);
    this.#lastUses += seconds - entry.lastUse;
    entry.lastUse = seconds;
    return true;
  }

  /** @param begun the last invalidation at the start of the count. A newer one of this stem forbids the entry. */
  add(count: CountedWindow, now: number, begun: number): void {
    const { stem, windowStart, limit } = count;
    const windowEnd = windowStart + count.windowSize;
    if (windowEnd * 1000 <= now) return;
    const slot = slotOf(stem);
    const mark = this.#invalidations.mark(slot);
    if (isNewer(mark, begun)) return;
    const old = this.#entries.get(stem);
    if (old !== undefined) {
      if (old.windowStart === windowStart && old.limit === limit && old.mark === mark) return;
      this.#drop(old);
      if (old.windowEnd * 1000 <= now) this.#expired += 1;
      else this.#overwritten += 1;
    }
    const bytes = ENTRY_BYTES + stringBytes(stem);
    if (bytes > this.#capacity) return;
    if (this.#entries.size === 0) this.#clock.start(now);
    else this.#clock.observe(now);
    this.#sweep(this.#clock.limit(now));
    while (this.#bytes + bytes > this.#capacity) this.#evacuate(now);
    const lastUse = Math.floor(now / 1000);
    this.#entries.set(stem, { stem, windowStart, windowEnd, limit, bytes, slot, mark, lastUse });
    this.#bytes += bytes;
    this.#lastUses += lastUse;
  }

  delete(stem: string): void {
    const entry = this.#entries.get(stem);
    if (entry !== undefined) this.#drop(entry);
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  gauges(): OverLimitCacheGauges {
    const entryCount = this.#entries.size;
    return {
      evacuateCount: this.#evacuated,
      expiredCount: this.#expired,
      entryCount,
      averageAccessTime: entryCount === 0 ? 0 : Math.round(this.#lastUses / entryCount),
      hitCount: this.#hits,
      missCount: this.#misses,
      lookupCount: this.#hits + this.#misses,
      overwriteCount: this.#overwritten,
    };
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.stem);
    this.#bytes -= entry.bytes;
    this.#lastUses -= entry.lastUse;
  }

  #sweep(now: number): void {
    for (let step = 0; step < SWEEP; step++) {
      const { done, value: entry } = this.#sweeper.next();
      if (done) {
        this.#sweeper = this.#entries.values();
        return;
      }
      if (entry.windowEnd * 1000 > now) continue;
      this.#drop(entry);
      this.#expired += 1;
    }
  }

  #evacuate(now: number): void {
    let step = this.#oldest.next();
    if (step.done) {
      this.#oldest = this.#entries.values();
      step = this.#oldest.next();
    }
    const entry: Entry = step.value;
    this.#drop(entry);
    if (entry.windowEnd * 1000 <= now) this.#expired += 1;
    else this.#evacuated += 1;
  }
}
