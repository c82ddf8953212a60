import type { Algorithm } from "../counters/algorithms/algorithm.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import type { CurrentLimit } from "../protocol/messages.ts";
import type { Limit } from "../rules/limit.ts";

/** One limit with all that does not depend on the descriptor's values, the time and the hits. */
export interface ResolvedLimit {
  readonly limit: Limit;
  readonly algorithm: Algorithm;
  /** The greatest number of hits in use: L, or the size of a bucket. */
  readonly cap: number;
  /** Hits above this number are near the limit. */
  readonly near: number;
  readonly currentLimit: CurrentLimit;
  /** The statistics of a limit in a list: `over_limit` counts the hits that it refused. */
  readonly statistics: RuleStatistics | undefined;
}
