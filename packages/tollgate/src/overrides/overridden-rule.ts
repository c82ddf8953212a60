/** A rule with the overrides and grants of one descriptor. Its counters stay the same: unit and algorithm do not change. */
import { Unit } from "../protocol/messages.ts";
import { createLimit, type Limit, MAX_TOKENS, plainLimit, statisticName } from "../rules/limit.ts";
import type { Rule } from "../rules/rule.ts";
import type { AdjustmentRecord, OverrideRecord } from "./record.ts";

/** The greatest uint32. Larger limits of a plain rule need `limits`. */
const MAX_UINT32 = 0xffff_ffff;

/** The limits of a rule, also of one with a number and a unit only; none if it is unlimited. */
export function limitsOfRule(rule: Rule): readonly Limit[] {
  if (rule.unlimited) return [];
  return rule.limits ?? [plainLimit(rule)];
}

/** The name that a record gives to a limit; undefined for the limit of a rule with one. */
export function recordName(limit: Limit): string | undefined {
  return limit.isListed ? statisticName(limit) : undefined;
}

/** @param records active ones, for this descriptor */
export function overriddenRule(rule: Rule, records: readonly AdjustmentRecord[]): Rule {
  const limits = limitsOfRule(rule);
  if (limits.length === 0) return rule;
  const changed = limits.map((limit) => {
    const own = records.filter((record) => record.limit === recordName(limit));
    return own.length === 0 ? limit : changedLimit(limit, own);
  });
  if (changed.every((limit, index) => limit === limits[index])) return rule;
  const [first] = changed;
  if (first === undefined) return { ...rule, unlimited: true, unit: Unit.UNKNOWN, limits: undefined };
  const isPlain = rule.limits === undefined && first.requestsPerUnit <= MAX_UINT32;
  return {
    ...rule,
    requestsPerUnit: first.requestsPerUnit,
    limits: isPlain ? undefined : (changed as readonly Limit[]),
  };
}

/** Undefined for no limit. A limit of a list stays, without an effect: the keys of a list depend on all its limits. */
function changedLimit(limit: Limit, records: readonly AdjustmentRecord[]): Limit | undefined {
  const { algorithm, isListed } = limit;
  const isBucket = algorithm === "token_bucket";
  const most = isBucket ? MAX_TOKENS : Number.MAX_SAFE_INTEGER;
  const override = records.find((record): record is OverrideRecord => record.kind === "override");
  if (override?.unlimited) {
    if (!isListed) return undefined;
    return createLimit({ ...limit, requestsPerUnit: most, burst: isBucket ? most : limit.burst }, true);
  }
  const granted = records.reduce((sum, record) => sum + (record.kind === "grant" ? record.hits : 0), 0);
  const requestsPerUnit = Math.min((override?.requestsPerUnit ?? limit.requestsPerUnit) + granted, most);
  return createLimit({ ...limit, requestsPerUnit, burst: override?.burst ?? limit.burst }, isListed);
}
