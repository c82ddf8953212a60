import type { RuleStatistics, Statistics } from "../observe/statistics.ts";
import { type ActiveOverrides, withOverrides } from "../overrides/table.ts";
import { type Descriptor, type LimitOverride, Unit } from "../protocol/messages.ts";
import { isUnit, unitNames, windowSeconds } from "../protocol/units.ts";
import { MAX_WINDOW } from "../rules/limit.ts";
import { overrideMatch } from "../rules/override.ts";
import type { Match, Rule, RuleSet } from "../rules/rule.ts";
import { DecisionError } from "./decision-error.ts";
import type { KeyFormat } from "./key-format.ts";
import type { RuleObserver } from "./observed-rule.ts";
import { passing, type Resolution } from "./prepared.ts";
import { resolveLimits, stemsOf } from "./resolve-limits.ts";
import { nearLimit } from "./tally.ts";

export interface ResolveOptions {
  readonly keyFormat: KeyFormat;
  /** `NEAR_LIMIT_RATIO`, 0 to 1 */
  readonly nearLimitRatio: number;
  /** Undefined if nothing observes decisions. */
  readonly observer?: RuleObserver | undefined;
  /** Limits that operators changed. Default: none. */
  readonly overrides?: ActiveOverrides | undefined;
}

/** The parts of a descriptor that its resolution depends on. */
export type Resolved = Pick<Descriptor, "entries" | "limit">;

/** @throws {DecisionError} */
export function checkOverride({ unit, unitMultiplier = 1 }: LimitOverride): void {
  if (!isUnit(unit))
    throw new DecisionError(
      "INVALID_ARGUMENT",
      `rate limit override of a descriptor has the unknown unit ${unit}; it must be one of ${unitNames.slice(1).join(", ")}`,
    );
  const most = Math.floor(MAX_WINDOW / windowSeconds[unit]!);
  if (unitMultiplier >= 1 && unitMultiplier <= most) return;
  throw new DecisionError(
    "INVALID_ARGUMENT",
    `rate limit override of a descriptor has the unit multiplier ${unitMultiplier}; with ${unitNames[unit]} it must be from 1 to ${most}`,
  );
}

/** Finds the rule, the statistics and the cache key of a descriptor. */
export function resolve(
  ruleSet: RuleSet,
  statistics: Statistics,
  options: ResolveOptions,
  domain: string,
  descriptor: Resolved,
): Resolution {
  if (descriptor.limit !== undefined) checkOverride(descriptor.limit);
  if (!ruleSet.hasDomain(domain)) return { ...passing, domainNotFound: statistics.domainNotFound(domain) };
  const { entries, limit } = descriptor;
  const match =
    limit === undefined
      ? withOverrides(options.overrides, ruleSet.match(domain, entries), domain, entries)
      : overrideMatch(domain, entries, limit);
  if (match === undefined) return passing;
  const { rule, metricKey, metricFromRequest } = match;
  if (rule.limits !== undefined) {
    const stems = stemsOf(options.keyFormat, domain, entries, match);
    return { ...limitsResolution(match, statistics, options), stems };
  }
  const stem = isCounted(rule) ? options.keyFormat(domain, entries, match, rule.unit) : "";
  return resolutionOf(match, statistics.rule(metricKey, metricFromRequest), stem, options);
}

/** The resolution of a match whose rule has `limits`, without its cache keys. */
export function limitsResolution(match: Match, statistics: Statistics, options: ResolveOptions): Resolution {
  const { metricKey, metricFromRequest } = match;
  return {
    ...resolutionOf(match, statistics.rule(metricKey, metricFromRequest), "", options),
    limits: resolveLimits(statistics, match, options.nearLimitRatio),
  };
}

export function resolutionOf(
  match: Match,
  statistics: RuleStatistics,
  stem: string,
  { nearLimitRatio, observer }: ResolveOptions,
): Resolution {
  const { rule } = match;
  const { requestsPerUnit, unit, name } = rule;
  return {
    rule,
    statistics,
    stem,
    windowSize: isCounted(rule) ? windowSeconds[unit]! : 0,
    domainNotFound: undefined,
    currentLimit: { requestsPerUnit, unit, name },
    near: nearLimit(requestsPerUnit, nearLimitRatio),
    limits: undefined,
    stems: passing.stems,
    observed: observer?.ruleOf(match),
  };
}

function isCounted({ unlimited, unit }: Rule): boolean {
  return !unlimited && unit !== Unit.UNKNOWN;
}
