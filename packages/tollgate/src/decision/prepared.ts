import type { AcquireGroup, AcquireLimit, AcquireRequest, Count, CountRequest } from "../counters/store.ts";
import type { Counter, RuleStatistics } from "../observe/statistics.ts";
import type {
  CurrentLimit,
  DescriptorStatus,
  RateLimitRequest,
  RateLimitResponse,
} from "../protocol/messages.ts";
import type { Rule } from "../rules/rule.ts";
import type { ResolvedLimit } from "./resolve-limits.ts";

/** A value for the code that fills it in. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** One descriptor of a request, prepared under one rule set: everything that does not depend on the time. */
export interface PreparedPart {
  /** Undefined if the descriptor passes without a limit. */
  readonly rule: Rule | undefined;
  /** Set if `rule` is set. */
  readonly statistics: RuleStatistics | undefined;
  readonly domainNotFound: Counter | undefined;
  /** Cache key up to the window start. */
  readonly stem: string;
  readonly windowSize: number;
  /** Negative for a refund. */
  readonly hits: number;
  readonly isRefund: boolean;
  readonly currentLimit: CurrentLimit;
  /** Hits above this count are near the limit. */
  readonly near: number;
  /** The limits of a rule with more than a number, a unit and a name. `stem`, `windowSize` and `near` are unused then. */
  readonly limits?: readonly ResolvedLimit[] | undefined;
}

/** A valid request with its prepared descriptors. It can be decided any number of times. */
export interface Prepared {
  readonly request: RateLimitRequest;
  /** Of the rule set that prepared it. */
  readonly generation: number;
  readonly parts: readonly PreparedPart[];
  /** A descriptor has a rule with `limits`: `decide-limits.ts` decides the request. */
  readonly hasLimits?: boolean;
  /** A cache holds it, so it will be decided again: its {@link scratch} is worth keeping. */
  isKept: boolean;
  /** The objects of the last decision, unless they are still in use. */
  scratch: DecisionScratch | undefined;
  /** The same, for a request that `hasLimits`. */
  limitsScratch?: LimitsScratch | undefined;
}

/**
 * The objects of one decision: the request to the store and the response. Only a few numbers change between decisions
 * of the same request, so the objects are reused (0 instead of 576 bytes for a decision of one descriptor).
 * docs/decisions/hot-path.md describes the caches of the decision path together.
 */
export interface DecisionScratch {
  /** One for each part that the store counts, in order. */
  readonly counts: readonly Mutable<Count>[];
  readonly request: Mutable<CountRequest>;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;
}

/** The objects of one decision of a request that `hasLimits`. */
export interface LimitsScratch {
  /** One for each part that the store decides, in order. */
  readonly groups: readonly ScratchGroup[];
  readonly request: Mutable<AcquireRequest>;
  /** The same request as plain counts; undefined if a limit needs `acquire`. */
  readonly plain:
    | { readonly counts: readonly Mutable<Count>[]; readonly request: Mutable<CountRequest> }
    | undefined;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;
}

export interface ScratchGroup extends AcquireGroup {
  readonly limits: readonly ScratchLimit[];
}

export interface ScratchLimit extends Mutable<AcquireLimit> {
  readonly resolved: ResolvedLimit;
  /** Hits above this number are near the limit. */
  readonly near: number;
}
