/** The limits of a rule with more than a number, a unit and a name. */
import type { Algorithm } from "../counters/algorithms/algorithm.ts";
import { algorithms } from "../counters/algorithms/algorithms.ts";
import type { MetricKey, RuleStatistics, Statistics } from "../observe/statistics.ts";
import type { Entry } from "../protocol/messages.ts";
import { isPlain, type Limit, plainLimit, statisticName } from "../rules/limit.ts";
import type { Match } from "../rules/rule.ts";
import type { KeyFormat } from "./key-format.ts";
import type { Resolution } from "./prepared.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";
import { nearLimit } from "./tally.ts";

/** The greatest uint32. */
const MAX_UINT32 = 0xffff_ffff;

export function resolveLimits(
  statistics: Pick<Statistics, "rule">,
  match: Match,
  nearLimitRatio: number,
): readonly ResolvedLimit[] {
  return match.rule.limits!.map((limit) => {
    const { requestsPerUnit, unit, multiplier, name, isListed } = limit;
    const isBucket = limit.algorithm === "token_bucket" && requestsPerUnit > 0;
    const cap = isBucket ? limit.burst : requestsPerUnit;
    return {
      limit,
      algorithm: algorithmOf(limit),
      cap,
      near: nearLimit(cap, nearLimitRatio),
      currentLimit: {
        requestsPerUnit: Math.min(requestsPerUnit, MAX_UINT32),
        unit,
        name,
        ...(multiplier !== 1 && { unitMultiplier: multiplier }),
      },
      statistics: isListed ? limitStatistics(statistics, match, limit) : undefined,
    };
  });
}

/** The cache keys of a match's limits: see `AcquireLimit`. */
export function stemsOf(
  keyFormat: KeyFormat,
  domain: string,
  entries: readonly Entry[],
  match: Match,
): readonly string[] {
  const { limits } = match.rule;
  const longestPart = Math.max(...limits!.map(({ keyPart }) => keyPart.length));
  return limits!.map((limit) => {
    const { unit, keyPart: part, isListed } = limit;
    return keyFormat(domain, entries, match, unit, { part, isListed, isPlain: isPlain(limit), longestPart });
  });
}

/** `<metric key>.limit.<name>.over_limit` */
function limitStatistics(statistics: Pick<Statistics, "rule">, match: Match, limit: Limit): RuleStatistics {
  const { domain, levels } = match.metricKey;
  const key: MetricKey = { domain, levels: [...levels, "limit", statisticName(limit)], isLimit: true };
  return statistics.rule(key, match.metricFromRequest);
}

function algorithmOf(limit: Limit): Algorithm {
  if (limit.algorithm !== "fixed_window") return algorithms[limit.algorithm];
  return isPlain(limit) ? algorithms.fixed_window : algorithms.accepted_window;
}

/** The limit of a rule without `limits`. */
export function plainLimitOf({ rule, currentLimit, near }: Resolution): ResolvedLimit {
  return {
    limit: plainLimit(rule!),
    algorithm: algorithms.fixed_window,
    cap: rule!.requestsPerUnit,
    near,
    currentLimit,
    statistics: undefined,
  };
}
