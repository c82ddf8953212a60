import type { JsonObject, Unit } from "../protocol/messages.ts";
import type { Weekday } from "./calendar-window.ts";
import type { AlgorithmName } from "./limit.ts";
import type { Location } from "./rule.ts";

/**
 * A configuration as it was written, with the place of each part. YAML files and xDS resources both become drafts, which
 * are then checked and indexed. `undefined` marks an unreadable field where the comment says so: the report already holds
 * its fault, and the checks must not report it again.
 */
export interface DraftConfig {
  /** The file's or the resource's name. */
  readonly file: string;
  /** Empty when missing; undefined when it could not be read. */
  readonly domain: string | undefined;
  readonly domainAt: Location;
  /** Those of a file that is read in parts can be read once. */
  readonly descriptors: Iterable<DraftDescriptor>;
}

export interface DraftDescriptor {
  readonly at: Location;
  /** Empty when missing; undefined when the key or the value could not be read. */
  readonly key: string | undefined;
  /** The place of an empty key. */
  readonly keyAt: Location;
  /** Undefined for a key-only rule. */
  readonly value: string | undefined;
  readonly limit: DraftLimit | undefined;
  /** The list `rate_limits`. */
  readonly limits?: { readonly at: Location; readonly items: readonly DraftLimit[] } | undefined;
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  readonly detailedMetric: boolean;
  readonly detailedMetricAt: Location;
  readonly valueToMetric: boolean;
  readonly shareThreshold: boolean;
  readonly shareThresholdAt: Location;
  readonly metadata: JsonObject | undefined;
  readonly descriptors: readonly DraftDescriptor[];
}

export interface DraftLimit {
  readonly at: Location;
  /** Undefined when it could not be read. */
  readonly unlimited: boolean | undefined;
  readonly unit: Unit | "missing" | undefined;
  readonly unitAt: Location;
  readonly requestsPerUnit: number | "missing" | undefined;
  readonly requestsPerUnitAt: Location;
  /** Empty if the limit has no name. */
  readonly name: string;
  readonly nameAt: Location;
  readonly replaces: readonly DraftReplaces[];
  /** Further settings. */
  readonly more?: DraftLimitSettings | undefined;
}

/** A readable value with its place. */
export interface Given<Value> {
  readonly value: Value;
  readonly at: Location;
}

/** Settings of a limit that are absent from most limits. */
export interface DraftLimitSettings {
  readonly multiplier?: Given<number> | undefined;
  readonly algorithm?: Given<AlgorithmName> | undefined;
  readonly burst?: Given<number> | undefined;
  readonly count?: Given<"all" | "accepted"> | undefined;
  readonly strict?: Given<boolean> | undefined;
  readonly reservations?: Given<boolean> | undefined;
  readonly calendar?: DraftCalendar | undefined;
}

export interface DraftCalendar {
  readonly at: Location;
  readonly timeZone: Given<string> | undefined;
  readonly weekStarts: Given<Weekday> | undefined;
}

export interface DraftReplaces {
  /** Empty when missing; undefined when it could not be read. */
  readonly name: string | undefined;
  readonly at: Location;
}
