import type { Counter, RuleStatistics } from "../observe/statistics.ts";
import type { CurrentLimit, RateLimitRequest } from "../protocol/messages.ts";
import type { Rule } from "../rules/rule.ts";
import type { ObservedRule } from "./observed-rule.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";

/** A value for the code that fills it in. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** One descriptor of a request, prepared under one rule set: everything that does not depend on the time. */
export interface PreparedPart {
  /** Undefined if the descriptor passes without a limit. */
  readonly rule: Rule | undefined;
  /** Set if `rule` is set. */
  readonly statistics: RuleStatistics | undefined;
  readonly domainNotFound: Counter | undefined;
  /** Cache key up to the window start; empty if it is in {@link Scratch.keys}. */
  readonly stem: string;
  /** The stem's place there. */
  readonly stemStart: number;
  readonly stemEnd: number;
  readonly windowSize: number;
  /** Negative for a refund. */
  readonly hits: number;
  readonly isRefund: boolean;
  readonly currentLimit: CurrentLimit;
  /** Hits above this count are near the limit. */
  readonly near: number;
  /** The limits of a rule with more than a number, a unit and a name. `stem` and `near` are unused then. */
  readonly limits: readonly ResolvedLimit[] | undefined;
  /**
   * Their cache keys. Empty if they are in {@link Scratch.keys}, one after the other: the first from `stemStart` to
   * `stemEnd`. They differ only in their ends, `Limit.keyPart`.
   */
  readonly stems: readonly string[];
  /** Undefined if no rule matches, or nothing observes decisions. */
  readonly observed: ObservedRule | undefined;
}

/** A valid request with its prepared descriptors. It can be decided any number of times. */
export interface Prepared {
  readonly request: RateLimitRequest;
  readonly parts: readonly PreparedPart[];
}
