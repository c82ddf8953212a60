/**
 * The interface of all counter stores. A decision passes the counts of one request to a store, and the store fills in
 * their results. It does so synchronously where it can.
 */

import type { Algorithm, LimitReport, Quota } from "./algorithms/algorithm.ts";

/** The result of one count. Outcomes are numbers because the hot path compares them. */
export const Outcome = {
  /** `after` is the counter after this count. */
  COUNTED: 0,
  /** The over-limit cache holds the counter. Nothing was counted. `after` is the limit. */
  KNOWN_OVER: 1,
  /** Another counter of the request exceeds its limit, so these hits were not counted. `after` is the counter without them. */
  HELD: 2,
  /** The store failed and the failure policy allows the call. */
  ALLOWED: 3,
  /** The store failed and the failure policy refuses the call. */
  DENIED: 4,
} as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** Whether a count that exceeds its limit refuses the request, and so holds the other counts back. */
export const Refuses = {
  /** A rule in shadow mode, or a quota rule beside one that cannot exceed. */
  NEVER: 0,
  ALWAYS: 1,
  /** A quota rule: refuses if every count with this value exceeds. */
  TOGETHER: 2,
} as const;
export type Refuses = (typeof Refuses)[keyof typeof Refuses];

/**
 * The condition under which hits of counters that do not exceed their limit are held back. Counters that exceed their
 * limit, and refunds, are always counted.
 */
export const HoldBack = {
  NEVER: 0,
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`: if the counts that exceed refuse the request. */
  WHEN_REFUSED: 1,
  /** Always: a count outside this request refuses the call. */
  ALWAYS: 2,
} as const;
export type HoldBack = (typeof HoldBack)[keyof typeof HoldBack];

/** Counters of every store saturate at 2^53 - 1. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** A stem as ASCII, `bytes[start, end)`. Valid until the store has answered or failed. */
export interface StemPlace {
  readonly bytes: Uint8Array;
  /** The same memory, to its last byte. */
  readonly words: Int32Array;
  /** A multiple of 4. */
  readonly start: number;
  readonly end: number;
}

/** One change of a counter, or one look at it, with its result. */
export interface Count {
  /** The cache key up to the window start: `<prefix><domain>|<key>=<value>|...|<unit>:`. The whole key is `stem + windowStart`. Empty if `place` is set. */
  readonly stem: string;
  /** The stem as bytes, instead of the text. Only for a store that {@link CounterStore.readsPlaces}. */
  readonly place?: StemPlace | undefined;
  /** Seconds since the epoch. */
  readonly windowStart: number;
  /** Seconds. */
  readonly windowSize: number;
  /** A positive number adds, 0 looks, a negative number refunds, down to 0. An integer within ±(2^53 - 1). */
  readonly hits: number;
  /** The limit. A count exceeds it if `hits` is 0 or more and the counter afterwards is above the limit. */
  readonly limit: number;
  readonly refuses: Refuses;
  /** Result: see {@link Outcome}. */
  outcome: Outcome;
  /** Result: an integer, 0 to {@link MAX_COUNT}. */
  after: number;
}

/** The counts of one request. */
export interface CountRequest {
  /** Counts in the order of the descriptors. The same counter may occur twice: each count has its own position. */
  readonly counts: readonly Count[];
  readonly holdBack: HoldBack;
  /** Start of the decision, in milliseconds since the epoch. The request's only reading of the clock. */
  readonly now: number;
  /** The caller's deadline, in milliseconds since the epoch; 0 for none. */
  readonly deadline: number;
}

/** One limit of a group, with its result. `algorithms/` defines what each algorithm does. */
export interface AcquireLimit extends Quota, LimitReport {
  /**
   * The cache key up to the window start. The whole key is `stem + windowStart` if the algorithm keeps a state for each
   * window, else `stem`. All stems of a list begin with the same hash tag: `{<prefix><domain>|<key>=<value>|...}`.
   */
  readonly stem: string;
  /** As in {@link Count}. */
  readonly place?: StemPlace | undefined;
  readonly algorithm: Algorithm;
  /** Whether open holds take hits of this limit: `reservations: true` of a rule. Default false. */
  readonly reservations?: boolean;
  /** Result: the verdict of this limit alone. */
  accepted: boolean;
}

/**
 * The limits of one descriptor. Its hits pass if every limit accepts them. If one limit refuses, no limit counts them,
 * except a plain fixed window (`countsRefused`), which is always alone in its group and counts all hits.
 */
export interface AcquireGroup {
  /** 1 to 8 limits with different keys. */
  readonly limits: readonly AcquireLimit[];
  /** A positive number asks, 0 looks, a negative number refunds. An integer within ±(2^53 - 1). */
  readonly hits: number;
  /** Whether a refusal of this group refuses the request, and so holds the other groups back. */
  readonly refuses: Refuses;
  /**
   * Result. `COUNTED`: the limits decided. `HELD`: another group refuses the request, so these hits were not counted.
   * `KNOWN_OVER`: only for a group of one plain fixed window. `ALLOWED` and `DENIED`: the limits have no results.
   */
  outcome: Outcome;
  /** Result: whether all limits accept. True for a held group. */
  accepted: boolean;
}

/** The groups of one request, if at least one limit is not a plain fixed window with `count: all`. */
export interface AcquireRequest {
  /** Groups in the order of the descriptors. Equal groups follow each other: the second sees the first's hits. */
  readonly groups: readonly AcquireGroup[];
  /**
   * See {@link HoldBack}. Held back are all groups that accept, and share no counter with a limit that refuses. Refunds
   * are always counted.
   */
  readonly holdBack: HoldBack;
  /** Start of the decision, in milliseconds since the epoch. */
  readonly now: number;
  /** The caller's deadline, in milliseconds since the epoch; 0 for none. */
  readonly deadline: number;
}

/** Waits for a store that answers later. The store calls one of the methods, once, and not before it has returned. */
export interface Waiter {
  /** The results are filled in. */
  answered(): void;
  /** @param error a {@link StoreError}. The store may still read the counts. */
  failed(error: unknown): void;
}

export interface CounterStore {
  /** The store's name in logs and statistics: `embedded`, `kvstore`, `objcache`. */
  readonly kind: string;
  /** Whether the store reads the places of counts and of limits, so that no text has to be made for them. */
  readonly readsPlaces?: boolean;
  /**
   * Fills `outcome` and `after` of every count. Returns undefined if it is done (this path creates no promise),
   * a promise otherwise.
   * @throws {StoreError} directly or as the promise's rejection
   */
  count(request: CountRequest): void | Promise<void>;
  /**
   * The same without a promise, for the path of a decision.
   * @returns whether the results are filled in. If not, the waiter gets the end.
   * @throws {StoreError} directly; the waiter then gets nothing
   */
  countFor?(request: CountRequest, waiter: Waiter): boolean;
  /**
   * Decides groups of limits of any algorithm that the store supports, as `acquireTogether` in `acquire.ts` does. Fills
   * in the results of every group and every limit. Absent if the store supports no algorithm but plain fixed windows.
   * @throws {StoreError} like `count`
   */
  acquire?(request: AcquireRequest): void | Promise<void>;
  /** The same without a promise, like {@link countFor}. */
  acquireFor?(request: AcquireRequest, waiter: Waiter): boolean;
  /** Flushes pending hits and releases connections, files and timers. */
  close(): Promise<void>;
}

/** Counts in any store as {@link CounterStore.countFor} does. */
export function countFor(store: CounterStore, request: CountRequest, waiter: Waiter): boolean {
  return store.countFor?.(request, waiter) ?? whenAnswered(store.count(request), waiter);
}

/** Passes the end of a promise to a waiter. @returns whether there is none */
export function whenAnswered(answer: void | Promise<void>, waiter: Waiter): boolean {
  if (answer === undefined) return true;
  passEnd(answer, waiter);
  return false;
}

/** A function of its own: V8 allocates the memory of closures at the start of the function that contains them. */
function passEnd(answer: Promise<void>, waiter: Waiter): void {
  answer.then(
    () => waiter.answered(),
    (error: unknown) => waiter.failed(error),
  );
}

/** The promise for a start that takes a waiter; undefined if it is done at once. */
export function promised(start: (waiter: Waiter) => boolean): void | Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (!start({ answered: resolve, failed: reject })) return promise;
}

export type StoreErrorCode =
  /** No connection, an error reply, a broken connection, an open breaker: gRPC UNAVAILABLE. */
  | "STORE_UNAVAILABLE"
  /** Too many counts already wait for the store, or for one of its servers: gRPC UNAVAILABLE. */
  | "STORE_FULL"
  /** The store did not answer within its timeout: gRPC UNAVAILABLE. */
  | "STORE_TIMEOUT"
  /** The caller's own deadline passed first: gRPC DEADLINE_EXCEEDED. */
  | "DEADLINE_EXCEEDED"
  /** The store cannot hold this key at all: gRPC INVALID_ARGUMENT. */
  | "KEY_UNUSABLE"
  /** The store keeps no reservations: gRPC UNIMPLEMENTED. */
  | "UNSUPPORTED";

/** A failed count. Its message is for the log and never reaches a caller. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
