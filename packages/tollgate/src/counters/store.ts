/**
 * Where hits are counted: one interface, many stores. A decision hands over the counts that one request needs;
 * the store fills in their results, at once where it can.
 */

/** What a store did with one count. Numbers, because they are compared once per decision on the hot path. */
export const Outcome = {
  /** `after` is the counter after this count. */
  COUNTED: 0,
  /** The over-limit cache knew that the counter is at or over its limit; nothing was counted. */
  KNOWN_OVER: 1,
  /** All-or-nothing: this count would go over its limit, so nothing was counted; `after` is the unchanged counter. */
  EXCEEDS: 2,
  /** All-or-nothing: another count of the request exceeds, so this one was not counted; `after` is the unchanged counter. */
  HELD: 3,
  /** The store failed and the failure policy lets the call pass. */
  ALLOWED: 4,
  /** The store failed and the failure policy refuses the call. */
  DENIED: 5,
} as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** Counters saturate here in every store: 2^53 - 1. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** One counter to change or look at, and the place for its result. */
export interface Count {
  /** The cache key up to the window start: `<prefix><domain>|<key>=<value>|...|<unit>:`. The whole key is `stem + windowStart`. */
  readonly stem: string;
  /** Seconds since the epoch. */
  readonly windowStart: number;
  /** Seconds. */
  readonly windowSize: number;
  /** Above 0 adds; 0 looks; below 0 gives back, and the counter never falls below 0. Whole, within ±(2^53 - 1). */
  readonly hits: number;
  /** The limit in force: what `EXCEEDS` and the over-limit cache compare with. */
  readonly limit: number;
  /** Result: see {@link Outcome}. */
  outcome: Outcome;
  /** Result: whole, 0 to {@link MAX_COUNT}. */
  after: number;
}

/** The counts of one request. */
export interface CountRequest {
  /** In the order of the request's descriptors. The same counter may stand here twice: each sees its own position. */
  readonly counts: readonly Count[];
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`: when one count would exceed its limit, none is counted. */
  readonly allOrNothing: boolean;
  /** Milliseconds since the epoch at which this request's decision was begun (the only clock reading of the request). */
  readonly now: number;
  /** Milliseconds since the epoch after which nobody waits for the answer any more; 0 for none. */
  readonly deadline: number;
}

export interface CounterStore {
  /** What it is in logs and statistics: `embedded`, `kvstore`, `objcache`. */
  readonly kind: string;
  /**
   * Fills `outcome` and `after` of every count. Returns nothing when it is done at once (no promise is made on
   * that path); a promise otherwise.
   * @throws {StoreError} at once or as the promise's rejection
   */
  count(request: CountRequest): void | Promise<void>;
  /** Flushes what is pending and lets go of connections, files and timers. */
  close(): Promise<void>;
}

export type StoreErrorCode =
  /** No connection, an error reply, a broken connection, an open breaker: gRPC UNAVAILABLE. */
  | "STORE_UNAVAILABLE"
  /** As many counts as may wait for the store, or for the one server asked, wait already: gRPC UNAVAILABLE. */
  | "STORE_FULL"
  /** The store did not answer within its time-out: gRPC UNAVAILABLE. */
  | "STORE_TIMEOUT"
  /** The caller's own deadline passed first: gRPC DEADLINE_EXCEEDED. */
  | "DEADLINE_EXCEEDED"
  /** The store cannot hold this key at all: gRPC INVALID_ARGUMENT. */
  | "KEY_UNUSABLE";

/** A count that a store could not make. Its message is for the log; no text of it reaches a caller. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
