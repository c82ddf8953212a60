import { type Count, Outcome } from "../counters/store.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import { Code, type CurrentLimit, type DescriptorStatus } from "../protocol/messages.ts";
import type { Mutable } from "./prepared.ts";

/** The limit of a status. */
export interface TallyContext {
  readonly currentLimit: CurrentLimit;
  /** Hits above this count are near the limit. */
  readonly near: number;
}

/**
 * Fills in the status of one counted descriptor and adds to its statistics, except `total_hits`, which is counted
 * before the call of the store. L is the limit, A the count afterwards, B = A - hits, N the near limit:
 *
 * | case              | code       | remaining | statistics                                       |
 * |-------------------|------------|-----------|--------------------------------------------------|
 * | A > L, B >= L     | OVER_LIMIT | 0         | over += hits                                     |
 * | A > L, B < L      | OVER_LIMIT | 0         | over += A-L; near += L - max(N, B)               |
 * | N < A <= L, B >= N| OK         | L-A       | near += hits; within += hits                     |
 * | N < A <= L, B < N | OK         | L-A       | near += A-N; within += hits                      |
 * | A <= N            | OK         | L-A       | within += hits                                   |
 * | known over        | OVER_LIMIT | 0         | over += hits; over with local cache += hits      |
 *
 * A rule in shadow mode answers OK and adds the hits above the limit to `shadow_mode`. Refunds, and hits that another
 * descriptor of the request held back, change no statistic here. If the store failed and the failure policy decided, the
 * status has no reset and no statistic changes.
 * @param status filled in, except for its `currentLimit`
 */
export function tally(
  count: Count,
  statistics: RuleStatistics,
  { currentLimit, near }: TallyContext,
  shadowMode: boolean,
  nowSeconds: number,
  status: Mutable<DescriptorStatus>,
): void {
  const { outcome, hits, after, windowStart, windowSize } = count;
  const limit = currentLimit.requestsPerUnit;
  if (outcome === Outcome.ALLOWED || outcome === Outcome.DENIED) {
    status.code = outcome === Outcome.ALLOWED || shadowMode ? Code.OK : Code.OVER_LIMIT;
    status.limitRemaining = 0;
    status.durationUntilReset = 0;
    return;
  }
  let isOver = after > limit;
  if (outcome === Outcome.KNOWN_OVER) {
    isOver = true;
    statistics.overLimit += hits;
    statistics.overLimitWithLocalCache += hits;
    if (shadowMode) statistics.shadowMode += hits;
  } else if (outcome === Outcome.COUNTED && hits >= 0) {
    const over = countHits(statistics, hits, after, limit, near);
    if (shadowMode) statistics.shadowMode += over;
  }
  status.code = isOver && !shadowMode ? Code.OVER_LIMIT : Code.OK;
  status.limitRemaining = isOver ? 0 : Math.max(limit - after, 0);
  status.durationUntilReset = windowStart + windowSize - nowSeconds;
}

/** Adds to the statistics within, near and over. Returns the hits above the limit. */
export function countHits(
  statistics: RuleStatistics,
  hits: number,
  after: number,
  limit: number,
  near: number,
): number {
  const before = after - hits;
  if (after > limit) {
    if (before >= limit) {
      statistics.overLimit += hits;
      return hits;
    }
    const over = after - limit;
    statistics.overLimit += over;
    statistics.nearLimit += limit - Math.max(near, before);
    return over;
  }
  statistics.withinLimit += hits;
  if (after > near) statistics.nearLimit += before >= near ? hits : after - near;
  return 0;
}

/**
 * The count above which hits are near the limit: floor(limit x ratio). Computed in 32-bit floats, as in the Go service,
 * so that dashboards show the same numbers (0.8: 1 -> 0, 5 -> 4, 7 -> 5, 33 -> 26). Above 2^24 a 32-bit float may exceed
 * the limit (4294967295 becomes 4294967296), so the result is capped at the limit.
 */
export function nearLimit(limit: number, ratio: number): number {
  return Math.min(Math.floor(Math.fround(Math.fround(limit) * Math.fround(ratio))), limit);
}
