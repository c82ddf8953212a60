/**
 * A cache of counters that are above their limit, in front of any store. Such a counter stays above its limit until
 * its window ends, so the cache can refuse its callers without the store. The cache does not hold counters at their
 * limit: a look (0 hits) at such a counter is still OK, and the store must count the hit that exceeds the limit.
 *
 * An entry is dropped when its window ends, when any thread of the process refunds hits of its counter, when a count
 * has another limit (a reload changed the rule), and when the rules are replaced. A full cache drops its oldest entry.
 * Refunds always go to the store.
 */
import { acquireFrom } from "./acquire.ts";
import { isRefused } from "./hold-back.ts";
import { Invalidations } from "./invalidations.ts";
import { type OverLimitCacheGauges, OverLimitEntries } from "./over-limit-entries.ts";
import {
  type ReservationRequest,
  type ReservationStore,
  Step,
  settleFor,
  settleFrom,
} from "./reservations.ts";
import {
  type AcquireGroup,
  type AcquireLimit,
  type AcquireRequest,
  type Count,
  type CounterStore,
  type CountRequest,
  HoldBack,
  Outcome,
  type Waiter,
  whenAnswered,
} from "./store.ts";

export interface OverLimitCacheOptions {
  /** Bytes for all entries, close to V8's use: 192 and the stem for each entry. 0 turns the cache off. */
  readonly sizeInBytes: number;
  /** Milliseconds of a monotonic clock. Default the system's. */
  readonly monotonic?: () => number;
  /** Shared by the caches of all threads. Default: a table for this cache alone. */
  readonly invalidations?: Invalidations | undefined;
  /** Called after a refund that brought a counter from above its limit to its limit or below. */
  readonly onLowered?: ((stem: string) => void) | undefined;
}

export class OverLimitCache implements ReservationStore {
  readonly kind: string;
  readonly readsPlaces: boolean;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #entries: OverLimitEntries;
  readonly #invalidations: Invalidations;
  readonly #onLowered: (stem: string) => void;

  constructor(store: CounterStore, options: OverLimitCacheOptions) {
    this.kind = store.kind;
    this.#store = store;
    this.#capacity = options.sizeInBytes;
    this.readsPlaces = this.#capacity <= 0 && store.readsPlaces === true;
    this.#invalidations = options.invalidations ?? new Invalidations();
    this.#onLowered = options.onLowered ?? (() => {});
    this.#entries = new OverLimitEntries(options.sizeInBytes, this.#invalidations, options.monotonic);
  }

  count(request: CountRequest): void | Promise<void> {
    if (this.#capacity <= 0) return this.#store.count(request);
    const known = this.#lookUp(request);
    if (known === 0) return this.#countAll(request);
    if (known === request.counts.length) return;
    return this.#countRest(request);
  }

  /** The cache serves the plain fixed windows of the request. */
  acquire(request: AcquireRequest): void | Promise<void> {
    if (this.#capacity <= 0) return acquireFrom(this.#store, request);
    const { groups, holdBack, now } = request;
    for (const group of groups) {
      const window = plainWindowOf(group);
      // A group of another algorithm may hold an outcome of an earlier decision, but never `KNOWN_OVER`.
      if (window === undefined) continue;
      group.outcome = Outcome.COUNTED;
      if (group.hits < 0) this.#entries.delete(window.stem);
      else if (this.#entries.knows(window, now)) {
        group.outcome = Outcome.KNOWN_OVER;
        group.accepted = false;
        window.accepted = false;
      }
    }
    const isKnown = ({ outcome }: AcquireGroup) => outcome === Outcome.KNOWN_OVER;
    const rest = groups.filter((group) => !isKnown(group));
    if (rest.length === groups.length) return this.#acquireAll(request);
    if (rest.length === 0) return;
    const refused =
      holdBack === HoldBack.WHEN_REFUSED && isRefused(groups, (index) => isKnown(groups[index]!));
    return this.#acquireAll({ ...request, groups: rest, holdBack: refused ? HoldBack.ALWAYS : holdBack });
  }

  /** Goes to the store. Only a report with a refund can bring a counter below its limit. */
  settle(request: ReservationRequest): void | Promise<void> {
    const settled = settleFrom(this.#store, request);
    if (request.step !== Step.REPORT || !request.groups.some(({ hits }) => hits < 0)) return settled;
    const refund = () => {
      for (const { hits, limits } of request.groups)
        if (hits < 0) for (const { stem } of limits) this.#invalidations.invalidate(stem);
    };
    if (settled === undefined) refund();
    else return settled.finally(refund);
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    if (request.step === Step.REPORT) return whenAnswered(this.settle(request), waiter);
    return settleFor(this.#store, request, waiter);
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
      // The request may hold an outcome of an earlier pass.
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
          // The store may have made the refund before its answer was lost.
          for (const { hits, stem } of request.counts) if (hits < 0) this.#lower(stem);
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

  #acquireAll(request: AcquireRequest): void | Promise<void> {
    const begun = this.#invalidations.last;
    const pending = acquireFrom(this.#store, request);
    if (pending === undefined) this.#learnGroups(request, begun);
    else
      return pending.then(
        () => this.#learnGroups(request, begun),
        (error: unknown) => {
          for (const group of request.groups) if (group.hits < 0) this.#lower(group.limits[0]!.stem);
          throw error;
        },
      );
  }

  #learnGroups({ groups, now }: AcquireRequest, begun: number): void {
    for (const group of groups) {
      const window = plainWindowOf(group);
      if (window === undefined) continue;
      if (group.hits < 0) this.#refunded(window.stem, window.used, group.hits, window.limit);
      else if (window.used > window.limit && group.outcome === Outcome.COUNTED)
        this.#entries.add(window, now, begun);
    }
  }

  /** Other replicas have an entry only if the counter was above the limit. */
  #refunded(stem: string, after: number, hits: number, limit: number): void {
    if (after <= limit && after - hits > limit) this.#lower(stem);
    else this.#invalidations.invalidate(stem);
  }

  #lower(stem: string): void {
    this.#invalidations.invalidate(stem);
    this.#onLowered(stem);
  }

  /** @param begun the last invalidation at the start of the count */
  #learn(counts: readonly Count[], now: number, begun: number): void {
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index]!;
      if (count.hits < 0) this.#refunded(count.stem, count.after, count.hits, count.limit);
      else if (count.after > count.limit && count.outcome === Outcome.COUNTED)
        this.#entries.add(count, now, begun);
    }
  }
}

/** The window of a group that counts all hits; undefined for other limits. A hold may end at any moment. */
function plainWindowOf({ limits }: AcquireGroup): AcquireLimit | undefined {
  const [limit] = limits;
  return limit?.algorithm.countsRefused && limit.reservations !== true ? limit : undefined;
}
