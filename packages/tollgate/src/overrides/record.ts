/** Changes of limits by operators: overrides and grants. Plain data that the store keeps as JSON. */
import type { Entry } from "../protocol/messages.ts";

/** Another limit for one exact descriptor. */
export interface OverrideRecord {
  readonly kind: "override";
  /** Chosen by the operator. */
  readonly id: string;
  readonly domain: string;
  readonly entries: readonly Entry[];
  /** The limit of a list: its name, or its unit with the multiplier. Undefined for a rule with one limit. */
  readonly limit?: string;
  /** Undefined if `unlimited` is set. 0 refuses everything. */
  readonly requestsPerUnit?: number;
  /** The size of a token bucket. Default: the rule's. */
  readonly burst?: number;
  readonly unlimited?: true;
  /** Milliseconds since the epoch; undefined for no end. */
  readonly expires?: number;
  /** The operator who set it. `at` is the time, in milliseconds since the epoch. */
  readonly by: string;
  readonly at: number;
  readonly reason?: string;
}

/** More hits for one exact descriptor, until a window ends. */
export interface GrantRecord {
  readonly kind: "grant";
  readonly id: string;
  readonly domain: string;
  readonly entries: readonly Entry[];
  readonly limit?: string;
  /** 1 or more. */
  readonly hits: number;
  readonly expires: number;
  readonly by: string;
  readonly at: number;
  readonly reason?: string;
}

export type AdjustmentRecord = OverrideRecord | GrantRecord;

/** The most records of a store, and the most bytes of all of them. */
export const MAX_RECORDS = 1000;
export const MAX_RECORDS_BYTES = 1024 * 1024;

const FORMAT = 1;

export function recordsText(records: readonly AdjustmentRecord[]): string {
  return JSON.stringify({ format: FORMAT, records });
}

/**
 * Reads what `recordsText` wrote. An empty text has no records.
 * @throws {SyntaxError} for anything else
 */
export function readRecords(text: string): readonly AdjustmentRecord[] {
  if (text === "") return [];
  const document = JSON.parse(text) as { format?: unknown; records?: unknown };
  const { records } = document;
  if (document.format !== FORMAT || !Array.isArray(records) || !records.every(isRecord))
    throw new SyntaxError("the overrides in the store have a format that this version does not read");
  return records;
}

export function isActive({ expires }: AdjustmentRecord, now: number): boolean {
  return expires === undefined || expires > now;
}

function isRecord(value: unknown): value is AdjustmentRecord {
  if (typeof value !== "object" || value === null) return false;
  const { kind, id, domain, entries, by, at, hits, requestsPerUnit, burst, unlimited, limit, expires } =
    value as Record<string, unknown>;
  const isLimit =
    kind === "grant" ? isWhole(hits) && isWhole(expires) : unlimited === true || isWhole(requestsPerUnit);
  return (
    (kind === "grant" || kind === "override") &&
    [id, domain, by].every((text) => typeof text === "string") &&
    isWhole(at) &&
    isLimit &&
    [burst, expires].every((number) => number === undefined || isWhole(number)) &&
    (limit === undefined || typeof limit === "string") &&
    Array.isArray(entries) &&
    entries.every((entry) => typeof entry?.key === "string" && typeof entry.value === "string")
  );
}

function isWhole(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
