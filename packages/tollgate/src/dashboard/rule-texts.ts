import { periodText } from "../protocol/units.ts";
import { formatLocation } from "../rules/diagnostic.ts";
import type { Limit } from "../rules/limit.ts";
import type { Location, Rule } from "../rules/rule.ts";
import { printable } from "../text/printable.ts";
import type { RulePlace, RuleRow } from "./messages.ts";

/** Maximum characters of a text that a row shows. */
const MAX_TEXT = 600;

/** `10 per second`; for several limits `10 per second, 500 per 15 minutes`. */
export function limitText({ limits, unlimited, requestsPerUnit, unit }: Rule): string {
  if (unlimited) return "unlimited";
  if (limits === undefined) return `${requestsPerUnit} per ${periodText(unit)}`;
  return limits.map(oneLimitText).join(", ");
}

export function oneLimitText({ requestsPerUnit, unit, multiplier, algorithm, burst }: Limit): string {
  const text = `${requestsPerUnit} per ${periodText(unit, multiplier)}`;
  if (algorithm === "token_bucket") return `${text} (bucket of ${burst})`;
  return algorithm === "sliding_window" ? `${text} (sliding)` : text;
}

export function placeOf(location: Location): RulePlace {
  return { file: location.file, line: location.line, text: shown(formatLocation(location)) };
}

export function modesOf({ shadowMode, quotaMode, unlimited }: Rule): RuleRow["modes"] {
  return [
    ...(shadowMode ? (["shadow"] as const) : []),
    ...(quotaMode ? (["quota"] as const) : []),
    ...(unlimited ? (["unlimited"] as const) : []),
  ];
}

/** A text as a row shows it: without bytes that are not UTF-8, and cut. */
export function shown(text: string): string {
  const safe = printable(text);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}…` : safe;
}
