/** Limits as people say them, and which of two allows more. */
import { periodText, windowSeconds } from "../protocol/units.ts";
import type { Limit, LimitSettings } from "../rules/limit.ts";
import type { Rule } from "../rules/rule.ts";

type Numbers = Pick<LimitSettings, "requestsPerUnit" | "unit" | "name"> & Partial<Limit>;

/** The limits of a rule. Empty for an unlimited one. */
function limitsOf(rule: Rule): readonly Numbers[] {
  if (rule.unlimited) return [];
  return rule.limits ?? [rule];
}

/** `100 per minute`, `10 per second and 1,000 per 15 minutes`, `unlimited`. */
export function limitText(rule: Rule): string {
  if (rule.unlimited) return "unlimited";
  const text = limitsOf(rule).map(textOf).join(" and ");
  const modes = [rule.shadowMode ? "shadow mode" : "", rule.quotaMode ? "quota mode" : ""].filter(Boolean);
  return modes.length === 0 ? text : `${text} (${modes.join(", ")})`;
}

function textOf({
  requestsPerUnit,
  unit,
  multiplier = 1,
  algorithm,
  burst,
  acceptedOnly,
  calendar,
  isListed,
}: Numbers) {
  const parts = [`${requestsPerUnit.toLocaleString("en")} per ${periodText(unit, multiplier)}`];
  if (algorithm === "sliding_window") parts.push("sliding window");
  if (algorithm === "token_bucket") parts.push(`token bucket of ${burst!.toLocaleString("en")}`);
  if (algorithm === "fixed_window" && acceptedOnly && !isListed) parts.push("counts accepted hits");
  if (calendar !== undefined) parts.push(`calendar of ${calendar.timeZone}`);
  return parts.join(", ");
}

/** The effect of a change on a rule's limits. `other`: they allow more of one kind and less of another. */
export type Direction = "raised" | "lowered" | "same" | "other";

/**
 * Compares what two rules allow: the rate over long times, and the greatest number at once. A list of limits allows at
 * least as much as another one if each of its limits does so compared with some limit of the other one.
 */
export function directionOf(before: Rule, now: Rule): Direction {
  const isMore = allowsAtLeast(limitsOf(now), limitsOf(before));
  const isLess = allowsAtLeast(limitsOf(before), limitsOf(now));
  if (isMore && isLess) return "same";
  if (isMore) return "raised";
  return isLess ? "lowered" : "other";
}

function allowsAtLeast(limits: readonly Numbers[], others: readonly Numbers[]): boolean {
  return limits.every((limit) =>
    others.some((other) => rateOf(limit) >= rateOf(other) && atOnce(limit) >= atOnce(other)),
  );
}

function rateOf({ requestsPerUnit, unit, multiplier = 1 }: Numbers): number {
  return requestsPerUnit / (windowSeconds[unit]! * multiplier);
}

function atOnce({ requestsPerUnit, algorithm, burst = 0 }: Numbers): number {
  return algorithm === "token_bucket" && requestsPerUnit > 0 ? burst : requestsPerUnit;
}
