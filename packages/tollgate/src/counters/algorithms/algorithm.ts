/**
 * The interface of the limiting algorithms. An algorithm is a set of pure functions on a small state of integers. The
 * embedded store and the model of the tests call them, and the scripts of the key-value store do the same arithmetic.
 *
 * A store decides a limit in these steps. Nothing is stored before the last one:
 *
 * 1. Read the state into a {@link LimitState}, or set all its fields to 0 if the store has none.
 * 2. `advance` brings the state to the current instant.
 * 3. `accepts` gives the verdict.
 * 4. `apply` takes accepted hits, or refunds hits.
 * 5. `report` describes the state to the caller.
 * 6. If `apply` was called, write the state, with the end that `end` returns. If `isUnused`, write the empty state
 *    instead, with all fields 0, or delete the state.
 */

/** Microseconds in a second. */
export const MICROSECONDS = 1_000_000;

/** The longest reset in an answer, in seconds: the greatest `google.protobuf.Duration`. */
const LONGEST_RESET = 315_576_000_000;

/** The constants of one limit. */
export interface Quota {
  /** L: hits in one window. 0 refuses everything. Up to 2^53 - 1, and up to 10^9 for a token bucket. */
  readonly limit: number;
  /** The size of a token bucket, 1 to 10^9. Other algorithms ignore it. */
  readonly burst: number;
  /** Start of the current window in seconds since the epoch, for fixed windows. 0 for the other algorithms. */
  readonly windowStart: number;
  /** T: seconds. The real length of a calendar window. */
  readonly windowSize: number;
}

/** The state of one limit. Integers. All fields are 0 if nothing is stored. */
export interface LimitState {
  /** Instant of the last change, in microseconds since the epoch; after `advance`: the instant of the decision. */
  at: number;
  /** Fixed window: its count. Sliding window: the count of the current window. Token bucket: millionths of tokens. */
  level: number;
  /** Sliding window: the count of the window before. Token bucket: whole tokens above the bucket that an operator granted. */
  previous: number;
}

/** The part of an answer about one limit. */
export interface LimitReport {
  /** Hits in use, rounded up. */
  used: number;
  /** Hits that would still be accepted, rounded down. */
  remaining: number;
  /** Whole seconds, at least 1. */
  reset: number;
}

export type AlgorithmName = "fixed_window" | "accepted_window" | "sliding_window" | "token_bucket";

export interface Algorithm {
  /** `accepted_window` is a fixed window with `count: accepted`. */
  readonly name: AlgorithmName;
  /** Whether a store keeps one state for each window (its key ends with the window's start), or one for all time. */
  readonly perWindow: boolean;
  /** Whether refused hits are counted: `count: all`. */
  readonly countsRefused: boolean;
  /**
   * The fields of a state that a store keeps: `level`; `level` and `at`; or `level`, `at` and `previous`. A state with a
   * `previous` has three in any case.
   */
  readonly words: 1 | 2 | 3;
  /**
   * Brings a state to the current instant, or to the instant of its last change if that is later: stored time never
   * runs backwards.
   * @param now microseconds since the epoch
   */
  advance(state: LimitState, quota: Quota, now: number): void;
  /**
   * Whether an advanced state accepts hits. A look (0 hits) asks for one hit. A refund is accepted.
   * @param hits 0 or more
   */
  accepts(state: LimitState, quota: Quota, hits: number): boolean;
  /** Adds hits to an advanced state, or refunds them if negative. Not for looks. */
  apply(state: LimitState, quota: Quota, hits: number): void;
  /**
   * Describes an advanced state after the decision.
   * @param accepted the verdict of this limit
   */
  report(state: LimitState, quota: Quota, hits: number, accepted: boolean, report: LimitReport): void;
  /** Adds hits above the limit to an advanced state, once. Absent where a grant raises the limit of a window instead. */
  grant?(state: LimitState, hits: number): void;
  /** Whether the state is the same as no state. */
  isUnused(state: LimitState, quota: Quota): boolean;
  /** Whether the limit is used up. To lose the state would give its caller a fresh limit. */
  isUsedUp(state: LimitState, quota: Quota): boolean;
  /** The longest time from a change of a state to its end, in seconds. */
  stateLength(quota: Quota): number;
  /** The end of the state's meaning: whole seconds since the epoch, rounded up. */
  end(state: LimitState, quota: Quota): number;
}

/** Whole seconds for a reset. */
export function resetSeconds(microseconds: number): number {
  return Math.min(Math.max(Math.ceil(microseconds / MICROSECONDS), 1), LONGEST_RESET);
}
