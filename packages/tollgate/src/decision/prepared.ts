import type { Counter, RuleStatistics } from "../observe/statistics.ts";
import { type CurrentLimit, type RateLimitRequest, Unit } from "../protocol/messages.ts";
import type { Rule } from "../rules/rule.ts";
import type { ObservedRule } from "./observed-rule.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";

/** A value for the code that fills it in. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const noLimit: CurrentLimit = { requestsPerUnit: 0, unit: Unit.UNKNOWN, name: "" };

/** The rule of a descriptor under one rule set, and all that follows from it: independent of the time and the hits. */
export interface Resolution {
  /** Undefined if no rule matches: the descriptor passes. */
  readonly rule: Rule | undefined;
  /** Set if `rule` is set. */
  readonly statistics: RuleStatistics | undefined;
  /**
   * Cache key up to the window start. Empty if it is in {@link Scratch.keys}, if nothing is counted (no rule, `unlimited`),
   * and with `limits`.
   */
  readonly stem: string;
  /** Seconds; 0 if nothing is counted. */
  readonly windowSize: number;
  /** Set if the domain is not configured. */
  readonly domainNotFound: Counter | undefined;
  readonly currentLimit: CurrentLimit;
  /** Hits above this count are near the limit. */
  readonly near: number;
  /** The limits of a rule with more than a number, a unit and a name. `stem` and `near` are unused then. */
  readonly limits: readonly ResolvedLimit[] | undefined;
  /**
   * Their cache keys. Empty if they are in {@link Scratch.keys}, one after the other: the first from `stemStart` to
   * `stemEnd`, each at a multiple of 4 bytes. They differ only in their ends, `Limit.keyPart`.
   */
  readonly stems: readonly string[];
  /** Undefined if no rule matches, or nothing observes decisions. */
  readonly observed: ObservedRule | undefined;
}

/** The resolution of a descriptor that passes without a limit. */
export const passing: Resolution = {
  rule: undefined,
  statistics: undefined,
  stem: "",
  windowSize: 0,
  domainNotFound: undefined,
  currentLimit: noLimit,
  near: 0,
  limits: undefined,
  stems: [],
  observed: undefined,
};

/** One descriptor of a request, prepared under one rule set: everything that does not depend on the time. */
export interface PreparedPart {
  readonly resolution: Resolution;
  /** The place of the stem in {@link Scratch.keys}. */
  readonly stemStart: number;
  readonly stemEnd: number;
  /** Negative for a refund. */
  readonly hits: number;
  readonly isRefund: boolean;
}

export function newPart(): Mutable<PreparedPart> {
  return { resolution: passing, stemStart: 0, stemEnd: 0, hits: 0, isRefund: false };
}

/** A valid request with its prepared descriptors. It can be decided any number of times. */
export interface Prepared {
  readonly request: RateLimitRequest;
  readonly parts: readonly PreparedPart[];
}
