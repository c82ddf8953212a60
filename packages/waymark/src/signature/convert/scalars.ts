import { INVALID } from "./converter.ts";
import type { JsonNumbers } from "./json-numbers.ts";

// RFC 8259, section 6
const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
/**
 * BigInt takes more than n steps for n digits, and a client chooses n. Real identifiers and measurements are shorter.
 */
const MAXIMUM_DIGITS = 1_000;

/**
 * Parses a number by JSON's grammar. INVALID for an overflow, and for an integer beyond 2^53 in full notation,
 * because its digits would be lost. A number with a fraction or an exponent is an approximation and is accepted.
 */
export function numberFromText(text: string): number | typeof INVALID {
  const length = text.length;
  // Most numbers are short integers, which need no regular expression.
  if (length > 0 && length <= 15) {
    let value = 0;
    let at = 0;
    for (; at < length; at++) {
      const digit = text.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (at === length) return length > 1 && text.charCodeAt(0) === 48 ? INVALID : value;
  }
  const match = length > MAXIMUM_DIGITS ? null : NUMBER.exec(text);
  if (!match) return INVALID;
  const value = Number(text);
  if (!Number.isFinite(value)) return INVALID;
  const writtenAsInteger = match[1] === undefined && match[2] === undefined;
  return writtenAsInteger && !Number.isSafeInteger(value) ? INVALID : value;
}

/** Converts a number of a JSON document by the rule of {@link numberFromText}. */
export function numberFromJson(value: unknown, numbers: JsonNumbers): number | typeof INVALID {
  if (typeof value !== "number" || !Number.isFinite(value)) return INVALID;
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return numbers.hasInteger(value) ? INVALID : value;
}

/** Returns the reason why a text that looks like a number is rejected. */
export function numberProblem(value: unknown, isText: boolean): string | undefined {
  if (isText && String(value).length > MAXIMUM_DIGITS) {
    return beginsWithDigits(String(value))
      ? `is too long: a number has at most ${MAXIMUM_DIGITS} characters`
      : undefined;
  }
  const isNumber = isText ? NUMBER.test(String(value)) : typeof value === "number";
  if (!isNumber) return undefined;
  // An integer of 310 digits overflows, but its length is the better reason.
  return Number.isFinite(Number(value))
    ? `is too large an integer to be exact: it must be within ±${Number.MAX_SAFE_INTEGER}`
    : "is too large a number";
}

export function bigintFromText(text: string): bigint | typeof INVALID {
  return digitsOf(text) <= MAXIMUM_DIGITS && INTEGER.test(text) ? BigInt(text) : INVALID;
}

/** Returns the reason why a text that looks like a bigint is rejected. */
export function bigintProblem(value: unknown): string | undefined {
  return typeof value === "string" && digitsOf(value) > MAXIMUM_DIGITS && beginsWithDigits(value)
    ? `is too long: an integer has at most ${MAXIMUM_DIGITS} digits`
    : undefined;
}

const digitsOf = (text: string): number => (text.startsWith("-") ? text.length - 1 : text.length);

/** Whether a long text starts like a number. Reads only its beginning. */
const beginsWithDigits = (text: string): boolean => /^-?\d+(?:\.\d*)?$/.test(text.slice(0, 100));

const TRUE = new Set(["", "true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/** The empty string is true, because `?flag` has this value. */
export function booleanFromText(text: string): boolean | typeof INVALID {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text.length > 5) return INVALID;
  const lower = text.toLowerCase();
  if (TRUE.has(lower)) return true;
  return FALSE.has(lower) ? false : INVALID;
}

// ISO 8601 extended format. The plus sign of an offset becomes a space if a client does not escape it
const DATE =
  /^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?([Zz]|[+\- ]\d\d(?::?\d\d)?)?)?$/;
const MINUTE = 60_000;

/** A calendar day (midnight UTC) or a time, in UTC if it has no offset. INVALID for a day that does not exist. */
export function dateFromText(text: string): Date | typeof INVALID {
  const match = DATE.exec(text);
  if (!match || match[1] === "-000000") return INVALID;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const hour = Number(match[4] ?? 0);
  const minute = Number(match[5] ?? 0);
  const second = Number(match[6] ?? 0);
  const millisecond = match[7] ? Math.floor(Number(`0.${match[7]}`) * 1_000) : 0;
  if (hour > 23 || minute > 59 || second > 59) return INVALID;
  const offset = offsetMinutes(match[8]);
  if (offset === undefined) return INVALID;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    return INVALID;
  }
  date.setUTCHours(hour, minute, second, millisecond);
  const result = offset === 0 ? date : new Date(date.getTime() - offset * MINUTE);
  return Number.isNaN(result.getTime()) ? INVALID : result;
}

function offsetMinutes(text: string | undefined): number | undefined {
  if (text === undefined || text === "Z" || text === "z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = text.length > 3 ? Number(text.slice(-2)) : 0;
  if (hours > 23 || minutes > 59) return undefined;
  return (text[0] === "-" ? -1 : 1) * (hours * 60 + minutes);
}

export const urlFromText = (text: string): URL | typeof INVALID => URL.parse(text) ?? INVALID;
