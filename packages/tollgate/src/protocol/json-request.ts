import { HttpError, parseJson } from "@tollway/waymark";
import { escapeLoneSurrogates } from "../text/lenient-utf8.ts";
import type { Descriptor, Entry, LimitOverride, RateLimitRequest } from "./messages.ts";
import {
  DEFAULT_REQUEST_LIMITS,
  jsonLimitsOf,
  OversizedRequestError,
  type RequestLimits,
  tooManyDescriptors,
  tooManyEntries,
} from "./request-limits.ts";
import { unitNames } from "./units.ts";

/** A text that is not the proto3 JSON form of a request. The message names the field and what it must be. */
export class JsonRequestError extends Error {
  override readonly name = "JsonRequestError";
  readonly code = "MALFORMED_JSON";
  /** Such as `descriptors[0].entries[1].key`; empty for the whole body. */
  readonly field: string;
  /** The message without the field's name. */
  readonly problem: string;
  constructor(field: string, problem: string) {
    super(field === "" ? problem : `${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/**
 * Reads a request from bytes of JSON. Callers ignore the content type, because `curl -d` sends that of a form.
 * @throws {JsonRequestError}
 * @throws {OversizedRequestError} above `limits`
 */
export function requestFromJsonBytes(bytes: Uint8Array, limits: RequestLimits): RateLimitRequest {
  return requestFromJson(parse(bytes, limits), limits);
}

/** Refuses a text with more members than a request can have before it parses them. */
export function parse(bytes: Uint8Array, limits: RequestLimits): unknown {
  try {
    return parseJson(bytes, jsonLimitsOf(limits));
  } catch (error) {
    if (!HttpError.is(error)) throw error;
    if (error.status === 413) throw new OversizedRequestError(error.message);
    const [fault] = error.options.errors ?? [];
    throw new JsonRequestError(fault?.name ?? "", fault?.message ?? error.message);
  }
}

export type Fields = Record<string, unknown>;

/**
 * Reads a request from a parsed JSON value by the proto3 JSON mapping: lowerCamel and original names, numbers also as
 * strings, enums by name or number, null for the default. Refuses unknown fields.
 * @throws {JsonRequestError}
 */
export function requestFromJson(
  value: unknown,
  limits: RequestLimits = DEFAULT_REQUEST_LIMITS,
): RateLimitRequest {
  const fields = object(value, "");
  known(fields, "", requestFields);
  return {
    domain: text(fields.domain, "domain"),
    descriptors: descriptorsOf(fields.descriptors, limits),
    hitsAddend: uint(pick(fields, "hitsAddend", "hits_addend", ""), "hitsAddend", 0xffff_ffff) ?? 0,
  };
}

const requestFields = ["domain", "descriptors", "hitsAddend", "hits_addend"];
const descriptorFields = [
  "entries",
  "limit",
  "hitsAddend",
  "hits_addend",
  "isNegativeHits",
  "is_negative_hits",
];
const entryFields = ["key", "value"];
const limitFields = ["requestsPerUnit", "requests_per_unit", "unit", "unitMultiplier", "unit_multiplier"];

export function descriptorsOf(value: unknown, limits: RequestLimits): Descriptor[] {
  const items = list(value, "descriptors");
  if (items.length > limits.descriptors) throw tooManyDescriptors(limits);
  return items.map((item, index) => descriptor(item, index, limits));
}

function descriptor(value: unknown, index: number, limits: RequestLimits): Descriptor {
  const at = `descriptors[${index}]`;
  const fields = object(value, at);
  known(fields, at, descriptorFields);
  const hits = pick(fields, "hitsAddend", "hits_addend", at);
  const limit = fields.limit;
  const entries = list(fields.entries, `${at}.entries`);
  if (entries.length > limits.entries) throw tooManyEntries(limits, index);
  return {
    entries: entries.map((item, place) => entry(item, `${at}.entries[${place}]`)),
    limit: limit === undefined || limit === null ? undefined : override(limit, `${at}.limit`),
    hitsAddend: uint(hits, `${at}.hitsAddend`, 2 ** 64),
    isNegativeHits: bool(pick(fields, "isNegativeHits", "is_negative_hits", at), `${at}.isNegativeHits`),
  };
}

function entry(value: unknown, at: string): Entry {
  const fields = object(value, at);
  known(fields, at, entryFields);
  return { key: text(fields.key, `${at}.key`), value: text(fields.value, `${at}.value`) };
}

function override(value: unknown, at: string): LimitOverride {
  const fields = object(value, at);
  known(fields, at, limitFields);
  const requests = pick(fields, "requestsPerUnit", "requests_per_unit", at);
  const multiplier = pick(fields, "unitMultiplier", "unit_multiplier", at);
  return {
    requestsPerUnit: uint(requests, `${at}.requestsPerUnit`, 0xffff_ffff) ?? 0,
    unit: unit(fields.unit, `${at}.unit`),
    unitMultiplier: uint(multiplier, `${at}.unitMultiplier`, 0xffff_ffff),
  };
}

export function object(value: unknown, at: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new JsonRequestError(
      at,
      `must be an object${at === "" ? " with a domain and descriptors" : ""}, not ${kind(value)}`,
    );
  }
  return value as Fields;
}

export function known(fields: Fields, at: string, names: readonly string[]): void {
  for (const name of Object.keys(fields)) {
    if (names.includes(name)) continue;
    const readable = names.filter((known) => !known.includes("_")).join(", ");
    const shown = name.length > 64 ? `${name.slice(0, 64)}...` : name;
    throw new JsonRequestError(
      at === "" ? shown : `${at}.${shown}`,
      `is an unknown field; the fields are ${readable}`,
    );
  }
}

export function pick(fields: Fields, camel: string, original: string, at: string): unknown {
  if (Object.hasOwn(fields, camel) && Object.hasOwn(fields, original)) {
    throw new JsonRequestError(
      at === "" ? camel : `${at}.${camel}`,
      `is present twice, as ${camel} and as ${original}`,
    );
  }
  return Object.hasOwn(fields, camel) ? fields[camel] : fields[original];
}

function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new JsonRequestError(at, `must be a list, not ${kind(value)}`);
  return value;
}

export function text(value: unknown, at: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new JsonRequestError(at, `must be a string, not ${kind(value)}`);
  return escapeLoneSurrogates(value);
}

function bool(value: unknown, at: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") throw new JsonRequestError(at, `must be true or false, not ${kind(value)}`);
  return value;
}

/** Characters of a number in a string. A string of a megabyte of digits blocks `BigInt` for 300 ms. */
const LONGEST_NUMBER = 64;

/** Reads an unsigned number up to `maximum`, capped at 2^53 - 1. Undefined if it is absent. */
export function uint(value: unknown, at: string, maximum: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isText =
    typeof value === "string" && value.length <= LONGEST_NUMBER && /^\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  const number = isText || typeof value === "number" ? Number(value) : Number.NaN;
  const bits = maximum > 0xffff_ffff ? 64 : 32;
  const tooLarge = bits === 64 ? number >= maximum && !isLastUint64(value) : number > maximum;
  if (!Number.isInteger(number) || number < 0 || tooLarge) {
    throw new JsonRequestError(at, `must be a whole number from 0 to 2^${bits} - 1, not ${kind(value)}`);
  }
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

/** 2^64 - 1 and its neighbours round up to 2^64 as JavaScript numbers. As strings they are distinct. */
function isLastUint64(value: unknown): boolean {
  return typeof value === "string" && /^\d+$/.test(value) && BigInt(value) < 2n ** 64n;
}

function unit(value: unknown, at: string): number {
  if (value === undefined || value === null) return 0;
  const number = typeof value === "string" ? (unitNames as readonly string[]).indexOf(value) : value;
  if (
    typeof number !== "number" ||
    !Number.isInteger(number) ||
    Math.abs(number) > 0x7fff_ffff ||
    (number < 0 && typeof value === "string")
  ) {
    throw new JsonRequestError(at, `must be one of ${unitNames.slice(1).join(", ")}, not ${kind(value)}`);
  }
  return number;
}

/** Characters of a value in an error message. */
const LONGEST_SHOWN = 40;

export function kind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  // JSON has no such number, but reads `1e999` and 400 digits as one.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return "so large a number";
  const shown = JSON.stringify(typeof value === "string" ? value.slice(0, LONGEST_SHOWN + 1) : value);
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}...` : shown;
}
