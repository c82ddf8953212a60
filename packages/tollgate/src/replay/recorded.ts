/** One line of the decision log. `docs/diff-and-replay.md` has the format. */
import type { Entry, LimitOverride } from "../protocol/messages.ts";
import { unitOfName, windowSeconds } from "../protocol/units.ts";
import { MAX_WINDOW } from "../rules/limit.ts";

/** A line that is not a decision. Its message names the fault. */
export class DamagedLineError extends Error {
  override readonly name = "DamagedLineError";
  readonly code = "DAMAGED_LINE";
}

export interface RecordedDecision {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Number of decisions of the traffic that this one represents: 1 / rate. Infinity if no descriptor is sampled. */
  readonly weight: number;
  readonly domain: string;
  readonly descriptors: readonly RecordedDescriptor[];
}

export interface RecordedDescriptor {
  readonly entries: readonly Entry[];
  /** Negative for a refund. */
  readonly hits: number;
  /** Whether all decisions of this descriptor's counter are in the log. */
  readonly isSampled: boolean;
  readonly isRefused: boolean;
  /** Undefined if no rule matched. */
  readonly rule: string | undefined;
  /** The request's own limit. */
  readonly override: LimitOverride | undefined;
  /** The unit of the limit, in lower case: `minute`. Undefined if its window is several units long. */
  readonly unit: string | undefined;
  readonly limit: number | undefined;
  /** The counter after the request. Undefined if the over-limit cache or the failure policy answered. */
  readonly count: number | undefined;
  /** Whether the answer has a reset. Without one, the failure policy answered. */
  readonly hasReset: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** @throws {DamagedLineError} */
export function parseDecision(line: string): RecordedDecision {
  const { time, rate, reason, domain, descriptors } = objectOf(parse(line), "the line");
  const milliseconds = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (!(milliseconds >= 0)) throw new DamagedLineError("`time` is not a time");
  // Without a sample, the log still has refusals.
  if (typeof rate !== "number" || !(rate >= 0 && rate <= 1))
    throw new DamagedLineError("`rate` is not a number from 0 to 1");
  if (reason !== "sample" && reason !== "refusal")
    throw new DamagedLineError("`reason` is neither sample nor refusal");
  if (typeof domain !== "string" || domain === "") throw new DamagedLineError("`domain` is not a text");
  if (!Array.isArray(descriptors) || descriptors.length === 0)
    throw new DamagedLineError("`descriptors` is not a list of descriptors");
  const read = descriptors.map(descriptorOf);
  if (rate === 0 && read.some(({ isSampled }) => isSampled))
    throw new DamagedLineError("a descriptor is sampled at a `rate` of 0");
  return { time: milliseconds, weight: 1 / rate, domain, descriptors: read };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new DamagedLineError("the line is not JSON");
  }
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new DamagedLineError(`${what} is not an object`);
}

function descriptorOf(value: unknown): RecordedDescriptor {
  const { entries, hits, sampled, rule, file, code, limit, count, reset } = objectOf(value, "a descriptor");
  if (!Array.isArray(entries)) throw new DamagedLineError("`entries` is not a list");
  if (!Number.isSafeInteger(hits)) throw new DamagedLineError("`hits` is not a whole number");
  if (code !== "OK" && code !== "OVER_LIMIT")
    throw new DamagedLineError("the `code` of a descriptor is neither OK nor OVER_LIMIT");
  const { number, unit, multiplier } = limitOf(limit);
  const name = typeof rule === "string" ? rule : undefined;
  // A limit without a file came with the request.
  const isOverride = name !== undefined && number !== undefined && file === undefined;
  return {
    entries: entries.map(entryOf),
    hits: hits as number,
    isSampled: sampled === true,
    isRefused: code === "OVER_LIMIT",
    rule: name,
    override: isOverride ? overrideOf(number, unit, multiplier) : undefined,
    unit: multiplier === undefined ? unit : undefined,
    limit: number,
    count: Number.isSafeInteger(count) ? (count as number) : undefined,
    hasReset: typeof reset === "number" && reset > 0,
  };
}

function entryOf(value: unknown): Entry {
  if (!Array.isArray(value) || typeof value[0] !== "string" || typeof value[1] !== "string")
    throw new DamagedLineError("an entry is not a pair of texts");
  return { key: value[0], value: value[1] };
}

interface RecordedLimit {
  readonly number?: number;
  readonly unit?: string;
  readonly multiplier?: number | undefined;
}

function limitOf(value: unknown): RecordedLimit {
  if (value === undefined || value === null) return {};
  const { requests_per_unit: number, unit, unit_multiplier: multiplier } = objectOf(value, "`limit`");
  if (!Number.isSafeInteger(number) || typeof unit !== "string")
    throw new DamagedLineError("`limit` has no number and unit");
  if (multiplier !== undefined && !Number.isSafeInteger(multiplier))
    throw new DamagedLineError("`unit_multiplier` of `limit` is not a whole number");
  return { number: number as number, unit: unit.toLowerCase(), multiplier: multiplier as number | undefined };
}

function overrideOf(
  requestsPerUnit: number,
  name: string | undefined,
  unitMultiplier: number | undefined,
): LimitOverride {
  const unit = unitOfName(name ?? "");
  if (unit === undefined) throw new DamagedLineError("`limit` has an unknown unit");
  const most = Math.floor(MAX_WINDOW / windowSeconds[unit]!);
  if (unitMultiplier !== undefined && (unitMultiplier < 1 || unitMultiplier > most))
    throw new DamagedLineError("`unit_multiplier` of `limit` is out of range");
  return { requestsPerUnit, unit, unitMultiplier };
}
