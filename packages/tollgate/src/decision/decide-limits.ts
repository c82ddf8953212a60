/**
 * Asks the store about a request with a rule that has `limits`. If all its limits are plain fixed windows, the store
 * counts them as usual. Otherwise the whole request goes through `acquire`.
 */
import { acquireFor } from "../counters/acquire.ts";
import { type CounterStore, countFor, Outcome, type Waiter } from "../counters/store.ts";
import type { LimitsScratch } from "./limits-scratch.ts";

/**
 * If the limits are plain, {@link copyCounts} fills in their results in the end.
 * @returns whether the store has decided. If not, the waiter gets the end.
 * @throws {StoreError} directly; the waiter then gets nothing
 */
export function askStore(
  scratch: LimitsScratch,
  store: CounterStore,
  now: number,
  deadline: number,
  waiter: Waiter,
): boolean {
  const { request } = scratch;
  request.now = now;
  request.deadline = deadline;
  if (scratch.groups.length === 0) return true;
  if (!scratch.isPlain) return acquireFor(store, request, waiter);
  prepareCounts(scratch);
  return countFor(store, scratch.countRequest, waiter);
}

function prepareCounts({ groups, counts, request, countRequest }: LimitsScratch): void {
  countRequest.now = request.now;
  countRequest.deadline = request.deadline;
  countRequest.holdBack = request.holdBack;
  counts.length = groups.length;
  for (let index = 0; index < groups.length; index++) {
    const { hits, refuses, limits, count } = groups[index]!;
    const limit = limits[0]!;
    counts[index] = count;
    count.stem = limit.stem;
    count.place = limit.place;
    count.windowStart = limit.windowStart;
    count.windowSize = limit.windowSize;
    count.limit = limit.limit;
    count.hits = hits;
    count.refuses = refuses;
    count.outcome = Outcome.COUNTED;
    count.after = 0;
  }
}

/** Copies the results of plain counts to their groups. */
export function copyCounts({ groups, counts }: LimitsScratch): void {
  for (let index = 0; index < groups.length; index++) {
    const { outcome, after, limit } = counts[index]!;
    const group = groups[index]!;
    group.outcome = outcome;
    group.limits[0]!.used = after;
    group.accepted = group.hits < 0 || after <= limit;
  }
}
