/**
 * Counters that this process knows to be above their limit, in front of any store. Such a counter stays there until
 * its window ends, so its callers can be refused without asking the store again. A counter at its limit is not known:
 * a look (0 hits) at it is still OK, and the hit that takes it above must be counted.
 *
 * An entry goes when its window ends, when hits of its counter are refunded (by any thread of the process), when a
 * count comes with another limit (a reload changed the rule), when the rules are replaced, and when the cache is full:
 * then the oldest goes. Refunds always ask the store.
 */
import { isRefused } from "./hold-back.ts";
import { Invalidations } from "./invalidations.ts";
import { type OverLimitCacheGauges, OverLimitEntries } from "./over-limit-entries.ts";
import { type Count, type CounterStore, type CountRequest, HoldBack, Outcome } from "./store.ts";

export interface OverLimitCacheOptions {
  /** Bytes for all entries together, about as V8 takes them: 192 and the stem for each. 0 keeps nothing. */
  readonly sizeInBytes: number;
  /** Milliseconds of a monotonic clock. Default the system's. */
  readonly monotonic?: () => number;
  /** Shared by the caches of all threads. Default: this cache has its own. */
  readonly invalidations?: Invalidations | undefined;
}

export class OverLimitCache implements CounterStore {
  readonly kind: string;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #entries: OverLimitEntries;
  readonly #invalidations: Invalidations;

  constructor(store: CounterStore, options: OverLimitCacheOptions) {
    this.kind = store.kind;
    this.#store = store;
    this.#capacity = options.sizeInBytes;
    this.#invalidations = options.invalidations ?? new Invalidations();
    this.#entries = new OverLimitEntries(options.sizeInBytes, this.#invalidations, options.monotonic);
  }

  count(request: CountRequest): void | Promise<void> {
    if (this.#capacity <= 0) return this.#store.count(request);
    const known = this.#lookUp(request);
    if (known === 0) return this.#countAll(request);
    if (known === request.counts.length) return;
    return this.#countRest(request);
  }

  gauges(): OverLimitCacheGauges {
    return this.#entries.gauges();
  }

  close(): Promise<void> {
    this.#entries.clear();
    return this.#store.close();
  }

  /** Answers the counts that are known to be above their limit. @returns their number */
  #lookUp({ counts, now }: CountRequest): number {
    let known = 0;
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      if (count.hits < 0) this.#entries.delete(count.stem);
      else if (this.#entries.knows(count, now)) {
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

  #countAll(request: CountRequest): void | Promise<void> {
    const begun = this.#invalidations.last;
    const pending = this.#store.count(request);
    if (pending === undefined) this.#learn(request.counts, request.now, begun);
    else
      return pending.then(
        () => this.#learn(request.counts, request.now, begun),
        (error: unknown) => {
          // The store may have taken the hits back before its answer was lost.
          for (const { hits, stem } of request.counts) if (hits < 0) this.#invalidations.invalidate(stem);
          throw error;
        },
      );
  }

  #countRest(request: CountRequest): void | Promise<void> {
    const isKnown = ({ outcome }: Count) => outcome === Outcome.KNOWN_OVER;
    const { counts, holdBack } = request;
    const refused =
      holdBack === HoldBack.WHEN_REFUSED && isRefused(counts, (index) => isKnown(counts[index]!));
    return this.#countAll({
      ...request,
      counts: counts.filter((count) => !isKnown(count)),
      holdBack: refused ? HoldBack.ALWAYS : holdBack,
    });
  }

  /** @param begun the last invalidation when the store was asked */
  #learn(counts: readonly Count[], now: number, begun: number): void {
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      if (count.hits < 0) this.#invalidations.invalidate(count.stem);
      else if (count.after > count.limit && count.outcome === Outcome.COUNTED)
        this.#entries.add(count, now, begun);
    }
  }
}
