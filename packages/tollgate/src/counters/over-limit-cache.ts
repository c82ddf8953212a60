/**
 * What this process knows to be over its limit, in front of any store: a counter that has reached its limit stays
 * there until its window ends, so its callers can be refused without asking the store again.
 *
 * An entry goes when its window ends, when hits of its counter are given back, when a count comes with another limit
 * (a reload changed the rule), and when the cache is full: then the oldest goes. Looks (0 hits) and giving back
 * always ask the store.
 */
import { type OverLimitCacheGauges, OverLimitEntries } from "./over-limit-entries.ts";
import { type Count, type CounterStore, type CountRequest, Outcome } from "./store.ts";

export interface OverLimitCacheOptions {
  /** Bytes for all entries together, about as V8 takes them: 176 and the stem for each. 0 keeps nothing. */
  readonly sizeInBytes: number;
  /** Milliseconds of a monotonic clock. Default the system's. */
  readonly monotonic?: () => number;
}

/** Stems whose giving back is remembered one by one for the sake of calls in flight. */
const MAX_GIVEN_BACK = 1024;

export class OverLimitCache implements CounterStore {
  readonly kind: string;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #entries: OverLimitEntries;

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
    this.#entries = new OverLimitEntries(options.sizeInBytes, options.monotonic);
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
    this.#entries.forget(changed);
  }

  /** Drops everything. */
  clear(): void {
    this.forget(() => true);
  }

  gauges(): OverLimitCacheGauges {
    return this.#entries.gauges();
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
      else if (count.hits > 0 && this.#entries.knows(count, now)) {
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

  // --- Asking the store

  #countAll(request: CountRequest): void | Promise<void> {
    const begun = this.#givings;
    const pending = this.#store.count(request);
    if (pending === undefined) this.#learn(request.counts, request.now, begun);
    else
      return pending.then(
        () => this.#learn(request.counts, request.now, begun),
        (error: unknown) => {
          // The store may have given back before its answer was lost.
          for (const { hits, stem } of request.counts) if (hits < 0) this.#noteGivenBack(stem);
          throw error;
        },
      );
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
        this.#entries.add(count, now);
    }
  }

  /** Whether nothing of this stem was given back since a call that began after `begun` givings. */
  #mayLearn(stem: string, begun: number): boolean {
    if (this.#givings === begun) return true;
    return begun >= this.#givenBackBefore && (this.#givenBack.get(stem) ?? 0) <= begun;
  }

  /** Called when giving back begins and when it is done. */
  #noteGivenBack(stem: string): void {
    this.#entries.delete(stem);
    this.#givings += 1;
    if (this.#givenBack.size >= MAX_GIVEN_BACK) {
      this.#givenBack.clear();
      this.#givenBackBefore = this.#givings;
    }
    this.#givenBack.set(stem, this.#givings);
  }
}

/** Whether `after` is what the counter was. */
function isCounterValue(outcome: Outcome): boolean {
  return outcome === Outcome.COUNTED || outcome === Outcome.EXCEEDS || outcome === Outcome.HELD;
}
