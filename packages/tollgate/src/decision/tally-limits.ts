/**
 * Fills in the statuses of a request with a rule that has `limits`, and adds to the statistics: those of the verdict,
 * once for each descriptor.
 *
 * | verdict  | code       | statistics                                                                          |
 * |----------|------------|-------------------------------------------------------------------------------------|
 * | accepted | OK         | the table of `tally` with A = hits in use, B = A - hits, L = the limit or the burst |
 * | refused  | OVER_LIMIT | over += hits; of a list also over += hits for each limit that refuses               |
 *
 * A plain fixed window has the whole table of `tally`. A rule in shadow mode answers OK and adds the hits over its
 * limit to `shadow_mode`. Looks, refunds and held hits change no statistic.
 */
import { Outcome } from "../counters/store.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import { Code, type DescriptorStatus } from "../protocol/messages.ts";
import { type LimitsScratch, type ScratchGroup, type ScratchLimit, tightest } from "./limits-scratch.ts";
import type { Mutable, PreparedPart } from "./prepared.ts";
import { UNLIMITED_REMAINING } from "./scratch.ts";
import { countHits } from "./tally.ts";

type Decided = Pick<LimitsScratch, "statuses"> & { readonly groups: readonly ScratchGroup[] };

export function tallyLimits(parts: readonly PreparedPart[], scratch: Decided, nowSeconds: number): void {
  const { groups, statuses } = scratch;
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const { rule, statistics } = parts[index]!.resolution;
    if (rule === undefined || statistics === undefined || rule.unlimited) continue;
    tallyGroup(groups[decided++]!, statistics, rule.shadowMode, nowSeconds, statuses[index]!);
  }
}

/** @param status filled in */
export function tallyGroup(
  group: ScratchGroup,
  statistics: RuleStatistics,
  shadowMode: boolean,
  nowSeconds: number,
  status: Mutable<DescriptorStatus>,
): void {
  const { outcome, limits } = group;
  if (outcome === Outcome.ALLOWED || outcome === Outcome.DENIED) {
    status.currentLimit = limits[0]!.resolved.currentLimit;
    status.code = outcome === Outcome.ALLOWED || shadowMode ? Code.OK : Code.OVER_LIMIT;
    status.limitRemaining = 0;
    status.durationUntilReset = 0;
    return;
  }
  if (limits[0]!.algorithm.countsRefused) settlePlain(group, limits[0]!, nowSeconds);
  const shown = tightest(limits);
  const over = outcome === Outcome.HELD || group.hits < 0 ? 0 : count(group, shown, statistics);
  if (shadowMode) statistics.shadowMode += over;
  status.currentLimit = shown.resolved.currentLimit;
  status.code = group.accepted || shadowMode ? Code.OK : Code.OVER_LIMIT;
  status.limitRemaining = group.accepted ? Math.min(shown.remaining, UNLIMITED_REMAINING) : 0;
  status.durationUntilReset = shown.reset;
}

/** The results of a plain fixed window, which `count` or the over-limit cache may have decided. */
function settlePlain(group: ScratchGroup, limit: ScratchLimit, nowSeconds: number): void {
  const { used, windowStart, windowSize, resolved } = limit;
  const isKnownOver = group.outcome === Outcome.KNOWN_OVER;
  // A refund does not ask, and its counter may still be above the limit.
  if (isKnownOver || (group.hits < 0 && used > resolved.cap)) group.accepted = false;
  limit.accepted = group.accepted;
  limit.remaining = Math.max(resolved.cap - used, 0);
  limit.reset = windowStart + windowSize - nowSeconds;
}

/** Adds to the statistics. Returns the hits over the limit. */
function count(
  { outcome, hits, accepted, limits }: ScratchGroup,
  shown: ScratchLimit,
  statistics: RuleStatistics,
): number {
  if (outcome === Outcome.KNOWN_OVER) {
    statistics.overLimit += hits;
    statistics.overLimitWithLocalCache += hits;
    return hits;
  }
  const { cap, near } = shown.resolved;
  if (accepted || shown.algorithm.countsRefused) return countHits(statistics, hits, shown.used, cap, near);
  statistics.overLimit += hits;
  for (const limit of limits)
    if (!limit.accepted && limit.resolved.statistics !== undefined)
      limit.resolved.statistics.overLimit += hits;
  return hits;
}
