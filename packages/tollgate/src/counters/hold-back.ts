/** The rule of `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`: which counts of a request are counted, and which are held back. */
import { type Count, HoldBack, Outcome, Refuses } from "./store.ts";

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
