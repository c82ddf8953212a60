import type { Refinements } from "../model/signature.ts";
import { FORMATS } from "./formats.ts";

/** The fault of a value that violates a refinement, after the argument's name. Undefined if the value fits. */
export type Check = (value: never) => string | undefined;

/** Bounds of a number or bigint. */
export function numberCheck(
  refinements: Refinements,
): ((value: number | bigint) => string | undefined) | undefined {
  const { minimum, maximum, format } = refinements;
  const integer = refinements.integer || format === "integer";
  const formatCheck = format === undefined ? undefined : FORMATS.get(format);
  if (minimum === undefined && maximum === undefined && !integer && !formatCheck) return undefined;
  return (value) => {
    if (integer && typeof value === "number" && !Number.isSafeInteger(value)) {
      return `must be an integer${Number.isInteger(value) ? ` within ±${Number.MAX_SAFE_INTEGER}` : ""}`;
    }
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
    if (formatCheck && !formatCheck.fits(value)) return `must be ${formatCheck.expected}`;
    return undefined;
  };
}

/**
 * Longest text that a `@pattern` without a `@maxLength` accepts. Many patterns take n^2 steps for n characters: 20 ms
 * for this length, 20 minutes for a body of 1 MiB.
 */
export const MAXIMUM_PATTERN_TEXT = 4_096;

/** Lengths count characters (code points), as JSON Schema does, not UTF-16 units. */
export function stringCheck(refinements: Refinements): ((value: string) => string | undefined) | undefined {
  const { minLength, pattern, format } = refinements;
  const maxLength = refinements.maxLength ?? (pattern === undefined ? undefined : MAXIMUM_PATTERN_TEXT);
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  const formatCheck = format === undefined ? undefined : FORMATS.get(format);
  if (minLength === undefined && maxLength === undefined && !expression && !formatCheck) return undefined;
  return (value) => {
    if (minLength !== undefined && characters(value, minLength) < minLength) {
      return `must have at least ${count(minLength, "character")}`;
    }
    if (maxLength !== undefined && characters(value, maxLength) > maxLength) {
      return `must have at most ${count(maxLength, "character")}`;
    }
    // The length checks come first, because they bound the time of this one.
    if (expression && !matches(expression, value)) return `must match ${pattern}`;
    if (formatCheck && !formatCheck.fits(value)) return `must be ${formatCheck.expected}`;
    return undefined;
  };
}

/** V8 throws a RangeError for some texts of many megabytes. */
function matches(expression: RegExp, text: string): boolean {
  try {
    return expression.test(text);
  } catch {
    return false;
  }
}

/** Checks that a `Date` is a day for `@format date`: midnight UTC. */
export function dayCheck(value: Date): string | undefined {
  return value.getTime() % 86_400_000 === 0 ? undefined : "must be a date without a time";
}

export function listCheck(
  refinements: Refinements,
): ((value: readonly unknown[]) => string | undefined) | undefined {
  const { minLength, maxLength } = refinements;
  if (minLength === undefined && maxLength === undefined) return undefined;
  return (value) => {
    if (minLength !== undefined && value.length < minLength) {
      return `must have at least ${count(minLength, "item")}`;
    }
    if (maxLength !== undefined && value.length > maxLength)
      return `must have at most ${count(maxLength, "item")}`;
    return undefined;
  };
}

/** Counts code points only if the UTF-16 length does not decide. */
function characters(text: string, bound: number): number {
  if (text.length < bound || text.length > bound * 2) return text.length;
  let total = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      total--;
      at++;
    }
  }
  return total;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
