/**
 * What this process knows to be over its limit, in front of any store: a counter that has reached its limit stays
 * there until its window ends, so its callers can be refused without asking the store again.
 *
 * An entry goes when its window ends, when hits of its counter are given back, when a count comes with another limit
 * (a reload changed the rule), and when the cache is full: then the oldest goes. Looks (0 hits) and giving back
 * always ask the store.
 */
import { type Count, type CounterStore, type CountRequest, Outcome } from "./store.ts";

export interface OverLimitCacheOptions {
  /** Bytes for all entries together, about as V8 takes them: 128 and the stem for each. 0 keeps nothing. */
  readonly sizeInBytes: number;
}

/** Gauges, under the names that dashboards of this service's peers know. */
export interface OverLimitCacheGauges {
  /** Entries that went because the cache was full. */
  readonly evacuateCount: number;
  /** Entries that went after their window's end. */
  readonly expiredCount: number;
  readonly entryCount: number;
  /** The mean of the entries' last uses, in seconds since the epoch; 0 where there are none. */
  readonly averageAccessTime: number;
  readonly hitCount: number;
  readonly missCount: number;
  readonly lookupCount: number;
  /** Entries that were replaced before their window's end: the limit is another one now. */
  readonly overwriteCount: number;
}

/** Times in seconds, so that V8 keeps them as small integers and not as objects. */
interface Entry {
  readonly stem: string;
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly limit: number;
  readonly bytes: number;
  lastUse: number;
}

/** An entry, its place in the Map, and the header of its string: 122 bytes measured over 200,000 entries. */
const ENTRY_BYTES = 128;
/** Entries that are looked at for their end whenever one is added: faster than they can be added. */
const SWEEP = 2;
/** Stems whose giving back is remembered one by one for the sake of calls in flight. */
const MAX_GIVEN_BACK = 1024;

export class OverLimitCache implements CounterStore {
  readonly kind: string;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();
  /** Stands before the oldest entry: all that it has passed are gone. (Asking the Map anew would pass its holes each time.) */
  #oldest: Iterator<Entry>;
  /** Goes round through the entries, looking for those whose window is over. */
  #sweeper: Iterator<Entry>;
  #bytes = 0;
  #lastUses = 0;
  #evacuated = 0;
  #expired = 0;
  #hits = 0;
  #misses = 0;
  #overwritten = 0;

  /**
   * Giving back is numbered. A count that was under way while its counter was given back may come home with what the
   * counter was before, and must not be learnt from: see {@link OverLimitCache.#mayLearn}.
   */
  #givings = 0;
  readonly #givenBack = new Map<string, number>();
  #givenBackBefore = 0;

  constructor(store: CounterStore, options: OverLimitCacheOptions) {
    this.kind = store.kind;
    this.#store = store;
    this.#capacity = options.sizeInBytes;
    this.#oldest = this.#entries.values();
    this.#sweeper = this.#entries.values();
  }

  count(request: CountRequest): void | Promise<void> {
    if (this.#capacity <= 0) return this.#store.count(request);
    const known = this.#lookUp(request);
    if (known === 0) return this.#countAll(request);
    if (known === request.counts.length) return;
    return request.allOrNothing ? this.#lookAtRest(request) : this.#countRest(request);
  }

  /** Drops what is known of the stems for which `changed` holds: after a reload, those whose rule has changed. */
  forget(changed: (stem: string) => boolean): void {
    for (const entry of this.#entries.values()) if (changed(entry.stem)) this.#drop(entry);
  }

  /** Drops everything. */
  clear(): void {
    this.forget(() => true);
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

  close(): Promise<void> {
    this.clear();
    return this.#store.close();
  }

  // --- Looking up

  /** Answers what is known to be over. @returns how many counts that is */
  #lookUp({ counts, now }: CountRequest): number {
    let known = 0;
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      if (count.hits < 0) this.#noteGivenBack(count.stem);
      else if (count.hits > 0 && this.#isKnown(count, now)) {
        count.outcome = Outcome.KNOWN_OVER;
        count.after = count.limit;
        known += 1;
        continue;
      }
      // A request may have been through here before; what it found then is no answer now.
      count.outcome = Outcome.COUNTED;
    }
    return known;
  }

  #isKnown(count: Count, now: number): boolean {
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
    this.#hits += 1;
    const seconds = Math.floor(now / 1000);
    this.#lastUses += seconds - entry.lastUse;
    entry.lastUse = seconds;
    return true;
  }

  // --- Asking the store

  #countAll(request: CountRequest): void | Promise<void> {
    const begun = this.#givings;
    const pending = this.#store.count(request);
    if (pending === undefined) this.#learn(request.counts, request.now, begun);
    else return pending.then(() => this.#learn(request.counts, request.now, begun));
  }

  #countRest(request: CountRequest): void | Promise<void> {
    const counts = request.counts.filter(({ outcome }) => outcome !== Outcome.KNOWN_OVER);
    return this.#countAll({ ...request, counts });
  }

  /** All-or-nothing with one known to be over: the others are only looked at. */
  #lookAtRest(request: CountRequest): void | Promise<void> {
    const counts = request.counts.filter(({ outcome }) => outcome !== Outcome.KNOWN_OVER);
    const looks = counts.map((count) => ({ ...count, hits: 0 }));
    const finish = () => {
      for (const [index, { outcome, after }] of looks.entries()) {
        const count = counts[index]!;
        const exceeds = count.hits >= 0 && after + count.hits > count.limit;
        count.after = after;
        count.outcome = outcome !== Outcome.COUNTED ? outcome : exceeds ? Outcome.EXCEEDS : Outcome.HELD;
      }
    };
    const pending = this.#countAll({ ...request, counts: looks, allOrNothing: false });
    if (pending === undefined) finish();
    else return pending.then(finish);
  }

  // --- Learning

  #learn(counts: readonly Count[], now: number, begun: number): void {
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      if (count.hits < 0) this.#noteGivenBack(count.stem);
      else if (
        count.after >= count.limit &&
        isCounterValue(count.outcome) &&
        this.#mayLearn(count.stem, begun)
      )
        this.#add(count, now);
    }
  }

  /** Whether nothing of this stem was given back since a call that began after `begun` givings. */
  #mayLearn(stem: string, begun: number): boolean {
    if (this.#givings === begun) return true;
    return begun >= this.#givenBackBefore && (this.#givenBack.get(stem) ?? 0) <= begun;
  }

  /** Called when giving back begins and when it is done. */
  #noteGivenBack(stem: string): void {
    const entry = this.#entries.get(stem);
    if (entry !== undefined) this.#drop(entry);
    this.#givings += 1;
    if (this.#givenBack.size >= MAX_GIVEN_BACK) {
      this.#givenBack.clear();
      this.#givenBackBefore = this.#givings;
    }
    this.#givenBack.set(stem, this.#givings);
  }

  #add(count: Count, now: number): void {
    const { stem, windowStart, limit } = count;
    const windowEnd = windowStart + count.windowSize;
    if (windowEnd * 1000 <= now) return;
    const old = this.#entries.get(stem);
    if (old !== undefined) {
      if (old.windowStart === windowStart && old.limit === limit) return;
      this.#drop(old);
      if (old.windowEnd * 1000 <= now) this.#expired += 1;
      else this.#overwritten += 1;
    }
    const bytes = ENTRY_BYTES + stringBytes(stem);
    if (bytes > this.#capacity) return;
    this.#sweep(now);
    while (this.#bytes + bytes > this.#capacity) this.#evacuate(now);
    const lastUse = Math.floor(now / 1000);
    this.#entries.set(stem, { stem, windowStart, windowEnd, limit, bytes, lastUse });
    this.#bytes += bytes;
    this.#lastUses += lastUse;
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

/** Whether `after` is what the counter was. */
function isCounterValue(outcome: Outcome): boolean {
  return outcome === Outcome.COUNTED || outcome === Outcome.EXCEEDS || outcome === Outcome.HELD;
}

/** V8 keeps a string that has a character above 255 in two bytes a character. */
function stringBytes(text: string): number {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0xff) return text.length * 2;
  return text.length;
}
