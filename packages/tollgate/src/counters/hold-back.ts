/** The rule of `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`: which counts of a request are counted, and which are held back. */
import { type Count, HoldBack, MAX_COUNT, Outcome, Refuses } from "./store.ts";

/** The state of a counter before the request. */
export type Look = Pick<Count, "outcome" | "after">;

/** One counter of a request. Several counts may share it. */
interface Counter {
  readonly before: number;
  position: number;
  exceeds: boolean;
}

/** A request of one count, or of one group, holds nothing back, unless a count outside the request does. */
export function holdBackOf(parts: readonly unknown[], holdBack: HoldBack): HoldBack {
  return holdBack === HoldBack.WHEN_REFUSED && parts.length < 2 ? HoldBack.NEVER : holdBack;
}

/** Whether the counts that exceed their limit refuse the request. */
export function isRefused(
  counts: readonly Pick<Count, "refuses">[],
  exceeds: (index: number) => boolean,
): boolean {
  let together = 0;
  let exceeding = 0;
  for (let index = 0; index < counts.length; index++) {
    const { refuses } = counts[index]!;
    if (refuses === Refuses.NEVER) continue;
    const over = exceeds(index);
    if (refuses === Refuses.ALWAYS && over) return true;
    if (refuses !== Refuses.TOGETHER) continue;
    together += 1;
    if (over) exceeding += 1;
  }
  return together > 0 && together === exceeding;
}

/** Whether a store's result means that its count exceeds the limit. */
export function exceedsLimit({ outcome, hits, after, limit }: Count): boolean {
  if (outcome === Outcome.COUNTED) return hits >= 0 && after > limit;
  return outcome === Outcome.KNOWN_OVER || outcome === Outcome.DENIED;
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
