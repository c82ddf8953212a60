/** The rule of `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` for counters whose values are known. */
import { exceedsLimit, isRefused } from "./hold-back.ts";
import { type Count, HoldBack, MAX_COUNT, Outcome } from "./store.ts";

/** The state of a counter before the request. */
export type Look = Pick<Count, "outcome" | "after">;

/** One counter of a request. Several counts may share it. */
interface Counter {
  readonly before: number;
  position: number;
  exceeds: boolean;
}

/**
 * Fills in the results of counts whose counters are known. No other caller may change them meanwhile. Each count
 * follows the earlier counts of the same counter. A counter is counted in full if one of its counts exceeds the limit.
 * If the request is refused, the other counters do not grow: their hits are held back, and refunds are counted.
 * @param looks the counter of each count; an outcome other than `COUNTED` is the result of its count
 * @returns whether counts are held back
 */
export function countTogether(counts: readonly Count[], looks: readonly Look[], holdBack: HoldBack): boolean {
  const counters = new Map<string, Counter>();
  const counterOf = counts.map((count, index) => {
    const { outcome, after } = looks[index]!;
    if (outcome !== Outcome.COUNTED) {
      count.outcome = outcome;
      count.after = after;
      return undefined;
    }
    const key = count.stem + count.windowStart;
    const counter = counters.get(key) ?? { before: after, position: after, exceeds: false };
    counters.set(key, counter);
    counter.position = Math.min(Math.max(counter.position + count.hits, 0), MAX_COUNT);
    count.outcome = Outcome.COUNTED;
    count.after = counter.position;
    if (exceedsLimit(count)) counter.exceeds = true;
    return counter;
  });
  const held =
    holdBack === HoldBack.ALWAYS ||
    (holdBack === HoldBack.WHEN_REFUSED && isRefused(counts, (index) => exceedsLimit(counts[index]!)));
  if (!held) return false;
  for (const counter of counters.values()) if (!counter.exceeds) counter.position = counter.before;
  for (const [index, counter] of counterOf.entries()) {
    if (counter === undefined || counter.exceeds) continue;
    const count = counts[index]!;
    if (count.hits < 0) counter.position = Math.max(counter.position + count.hits, 0);
    else count.outcome = Outcome.HELD;
    count.after = counter.position;
  }
  return true;
}
