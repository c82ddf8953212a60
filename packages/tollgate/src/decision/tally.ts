import { type Count, Outcome } from "../counters/store.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import { Code, type CurrentLimit, type DescriptorStatus } from "../protocol/messages.ts";
import { nearLimit } from "./near-limit.ts";

/** What turns a store's result into a status, apart from the result itself. */
export interface TallyContext {
  readonly currentLimit: CurrentLimit;
  readonly shadowMode: boolean;
  readonly nearLimitRatio: number;
  /** Whole seconds until the window ends. */
  readonly reset: number;
}

/**
 * The status of one counted descriptor, and its statistics (`total_hits` excepted: that is counted before the
 * store is asked). With L the limit, A the counter after, B = A - hits and N the near limit:
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
 * A rule in shadow mode answers OK and counts the hits that were over under `shadow_mode`. Hits given back count
 * in no statistic. Where the store failed and the policy answers, there is no reset and no statistic.
 */
export function tally(count: Count, statistics: RuleStatistics, context: TallyContext): DescriptorStatus {
  const { outcome, hits, after } = count;
  const limit = context.currentLimit.requestsPerUnit;
  if (outcome === Outcome.ALLOWED || outcome === Outcome.DENIED) {
    const code = outcome === Outcome.ALLOWED || context.shadowMode ? Code.OK : Code.OVER_LIMIT;
    return { code, currentLimit: context.currentLimit, limitRemaining: 0, durationUntilReset: 0 };
  }
  let over: number;
  if (outcome === Outcome.COUNTED) {
    if (hits < 0) return status(after > limit, limit - after, context);
    over = countHits(statistics, hits, after, limit, context.nearLimitRatio);
    if (after <= limit) return status(false, limit - after, context);
  } else if (outcome === Outcome.HELD) {
    return status(false, limit - after, context);
  } else {
    over = Math.max(hits, 0);
    statistics.overLimit += over;
    if (outcome === Outcome.KNOWN_OVER) statistics.overLimitWithLocalCache += over;
  }
  if (context.shadowMode) statistics.shadowMode += over;
  return status(true, 0, context);
}

/** Counts within, near and over; returns the hits that were over. */
function countHits(
  statistics: RuleStatistics,
  hits: number,
  after: number,
  limit: number,
  ratio: number,
): number {
  const before = after - hits;
  const near = nearLimit(limit, ratio);
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

function status(over: boolean, remaining: number, context: TallyContext): DescriptorStatus {
  return {
    code: over && !context.shadowMode ? Code.OVER_LIMIT : Code.OK,
    currentLimit: context.currentLimit,
    limitRemaining: Math.max(remaining, 0),
    durationUntilReset: context.reset,
  };
}
