/** The limits of a rule with more than a number, a unit and a name, for one descriptor. */
import type { Algorithm } from "../counters/algorithms/algorithm.ts";
import { algorithms } from "../counters/algorithms/algorithms.ts";
import type { RuleStatistics, Statistics } from "../observe/statistics.ts";
import type { CurrentLimit, Entry } from "../protocol/messages.ts";
import { isPlain, type Limit, statisticName } from "../rules/limit.ts";
import type { Match } from "../rules/rule.ts";
import type { KeyFormat } from "./key-format.ts";

/** The greatest uint32. */
const MAX_UINT32 = 0xffff_ffff;

/** One limit with all that does not depend on the time and the hits. */
export interface ResolvedLimit {
  readonly limit: Limit;
  readonly algorithm: Algorithm;
  /** See `AcquireLimit`. */
  readonly stem: string;
  /** The greatest number of hits in use: L, or the size of a bucket. */
  readonly cap: number;
  readonly currentLimit: CurrentLimit;
  /** Of a limit in a list: `over_limit` counts the hits that it refused. */
  readonly statistics: RuleStatistics | undefined;
}

export function resolveLimits(
  statistics: Pick<Statistics, "rule">,
  keyFormat: KeyFormat,
  domain: string,
  entries: readonly Entry[],
  match: Match,
): readonly ResolvedLimit[] {
  const { limits } = match.rule;
  const longestPart = Math.max(...limits!.map(({ keyPart }) => Buffer.byteLength(keyPart)));
  return limits!.map((limit) => {
    const { requestsPerUnit, unit, name, keyPart, isListed } = limit;
    const isBucket = limit.algorithm === "token_bucket" && requestsPerUnit > 0;
    return {
      limit,
      algorithm: algorithmOf(limit),
      stem: keyFormat(domain, entries, match, unit, { part: keyPart, isListed, longestPart }),
      cap: isBucket ? limit.burst : requestsPerUnit,
      currentLimit: { requestsPerUnit: Math.min(requestsPerUnit, MAX_UINT32), unit, name },
      statistics: isListed ? limitStatistics(statistics, match, limit) : undefined,
    };
  });
}

/** `<metric key>.limit.<name>.over_limit` */
function limitStatistics(statistics: Pick<Statistics, "rule">, match: Match, limit: Limit): RuleStatistics {
  const { domain, levels } = match.metricKey;
  return statistics.rule(
    { domain, levels: [...levels, "limit", statisticName(limit)] },
    match.metricFromRequest,
  );
}

function algorithmOf(limit: Limit): Algorithm {
  if (limit.algorithm !== "fixed_window") return algorithms[limit.algorithm];
  return isPlain(limit) ? algorithms.fixed_window : algorithms.accepted_window;
}
