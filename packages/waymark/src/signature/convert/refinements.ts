import type { Refinements } from "../model/signature.ts";
import { FORMATS } from "./formats.ts";

/** The fault of a value that violates a refinement, after the argument's name. Undefined if the value fits. */
export type Check = (value: never) => string | undefined;

/** Bounds of a number or bigint. */
export function numberCheck(
  refinements: Refinements,
): ((value: number | bigint) => string | undefined) | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = refinements;
  const integer = refinements.integer || format === "integer";
  const formatCheck = format === undefined ? undefined : FORMATS.get(format);
  return (value) => {
    if (integer && typeof value === "number" && !Number.isSafeInteger(value)) {
      return `must be an integer${Number.isInteger(value) ? ` within ±${Number.MAX_SAFE_INTEGER}` : ""}`;
    }
    if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
    if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      return `must be more than ${exclusiveMinimum}`;
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
      return `must be less than ${exclusiveMaximum}`;
    if (multipleOf !== undefined && !isMultiple(value, multipleOf))
      return `must be a multiple of ${multipleOf}`;
    if (formatCheck && !formatCheck.fits(value)) return `must be ${formatCheck.expected}`;
    return undefined;
  };
}

/** 0.3 is a multiple of 0.1, although the division of the doubles leaves a rest. */
function isMultiple(value: number | bigint, step: number): boolean {
  if (typeof value === "bigint")
    return Number.isInteger(step) ? value % BigInt(step) === 0n : isMultiple(Number(value), step);
  const count = value / step;
  return (
    Number.isFinite(count) &&
    Math.abs(count - Math.round(count)) <= 4 * Number.EPSILON * Math.max(1, Math.abs(count))
  );
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

/** Bounds of a list. */
export function listCheck(refinements: Refinements): (value: readonly unknown[]) => string | undefined {
  const { minItems, maxItems, uniqueItems } = refinements;
  return (value) => {
    if (minItems !== undefined && value.length < minItems) {
      return `must have at least ${count(minItems, "item")}`;
    }
    if (maxItems !== undefined && value.length > maxItems)
      return `must have at most ${count(maxItems, "item")}`;
    if (uniqueItems && new Set(value.map(identityOf)).size < value.length)
      return "must not have the same item twice";
    return undefined;
  };
}

/** A text that is the same for equal values. The names of an object have no order. */
function identityOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(identityOf).join()}]`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  if (value instanceof Date) return `date ${value.getTime()}`;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    return `${value.constructor.name} ${String(value)}`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${identityOf((value as Record<string, unknown>)[name])}`).join()}}`;
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
