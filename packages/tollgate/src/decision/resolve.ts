import type { Counter, RuleStatistics, Statistics } from "../observe/statistics.ts";
import { type Descriptor, type Entry, type LimitOverride, Unit } from "../protocol/messages.ts";
import { isUnit, unitNames, windowSeconds } from "../protocol/units.ts";
import { overrideMatch } from "../rules/override.ts";
import type { Match, Rule, RuleSet } from "../rules/rule.ts";
import { DecisionError } from "./decision-error.ts";
import type { KeyFormat } from "./key-format.ts";
import { type ResolvedLimit, resolveLimits } from "./resolve-limits.ts";

/** The parts of a descriptor that its resolution depends on. */
export type Resolved = Pick<Descriptor, "entries" | "limit">;

/** The rule of a descriptor under one rule set, and all that follows from it: independent of the time and the hits. */
export interface Resolution {
  /** Undefined if no rule matches: the descriptor passes. */
  readonly rule: Rule | undefined;
  /** Set if `rule` is set. */
  readonly statistics: RuleStatistics | undefined;
  /** Cache key up to the window start; empty if nothing is counted (no rule, `unlimited`), and with `limits`. */
  readonly stem: string;
  /** Seconds; 0 if nothing is counted, and with `limits`. */
  readonly windowSize: number;
  /** The limits of a rule with more than a number, a unit and a name. */
  readonly limits?: readonly ResolvedLimit[] | undefined;
  /** Set if the domain is not configured. */
  readonly domainNotFound: Counter | undefined;
}

/** @throws {DecisionError} */
export function checkUnit(limit: LimitOverride): void {
  if (isUnit(limit.unit)) return;
  throw new DecisionError(
    "INVALID_ARGUMENT",
    `rate limit override of a descriptor has the unknown unit ${limit.unit}; it must be one of ${unitNames.slice(1).join(", ")}`,
  );
}

/** Finds the rule, the statistics and the cache key of a descriptor. */
export function resolve(
  ruleSet: RuleSet,
  statistics: Statistics,
  keyFormat: KeyFormat,
  domain: string,
  descriptor: Resolved,
): Resolution {
  if (descriptor.limit !== undefined) checkUnit(descriptor.limit);
  if (!ruleSet.hasDomain(domain)) {
    return {
      rule: undefined,
      statistics: undefined,
      stem: "",
      windowSize: 0,
      domainNotFound: statistics.domainNotFound(domain),
    };
  }
  const { entries, limit } = descriptor;
  const match = limit === undefined ? ruleSet.match(domain, entries) : overrideMatch(domain, entries, limit);
  if (match === undefined) {
    return { rule: undefined, statistics: undefined, stem: "", windowSize: 0, domainNotFound: undefined };
  }
  const { rule } = match;
  if (rule.limits !== undefined) return resolveWithLimits(statistics, keyFormat, domain, entries, match);
  const counts = !rule.unlimited && rule.unit !== Unit.UNKNOWN;
  return {
    rule,
    statistics: statistics.rule(match.metricKey, match.metricFromRequest),
    stem: counts ? keyFormat(domain, entries, match, rule.unit) : "",
    windowSize: counts ? windowSeconds[rule.unit]! : 0,
    domainNotFound: undefined,
  };
}

function resolveWithLimits(
  statistics: Statistics,
  keyFormat: KeyFormat,
  domain: string,
  entries: readonly Entry[],
  match: Match,
): Resolution {
  return {
    rule: match.rule,
    statistics: statistics.rule(match.metricKey, match.metricFromRequest),
    stem: "",
    windowSize: 0,
    domainNotFound: undefined,
    limits: resolveLimits(statistics, keyFormat, domain, entries, match),
  };
}
