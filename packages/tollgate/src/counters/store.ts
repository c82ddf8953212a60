/**
 * Where hits are counted: one interface, many stores. A decision hands over the counts that one request needs;
 * the store fills in their results, at once where it can.
 */

/** What a store did with one count. Numbers, because they are compared once per decision on the hot path. */
export const Outcome = {
  /** `after` is the counter after this count. */
  COUNTED: 0,
  /** The over-limit cache knew that the counter is above its limit. Nothing was counted; `after` is the limit. */
  KNOWN_OVER: 1,
  /** Another counter of the request exceeds, so these hits were not counted; `after` is the counter without them. */
  HELD: 2,
  /** The store failed and the failure policy lets the call pass. */
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
  /** A quota rule: refuses where every count with this value exceeds. */
  TOGETHER: 2,
} as const;
export type Refuses = (typeof Refuses)[keyof typeof Refuses];

/**
 * When the hits of counters that do not exceed their limit are held back. A counter that exceeds is always counted, and so
 * are refunds.
 */
export const HoldBack = {
  NEVER: 0,
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT`: where the counts that exceed refuse the request. */
  WHEN_REFUSED: 1,
  /** In any case: a count that is not in this request refuses it. */
  ALWAYS: 2,
} as const;
export type HoldBack = (typeof HoldBack)[keyof typeof HoldBack];

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
  /** Above 0 adds; 0 looks; below 0 refunds, and the counter never falls below 0. Whole, within ±(2^53 - 1). */
  readonly hits: number;
  /** The limit in force. A count exceeds it where `hits` is not below 0 and the counter afterwards is above the limit. */
  readonly limit: number;
  readonly refuses: Refuses;
  /** Result: see {@link Outcome}. */
  outcome: Outcome;
  /** Result: whole, 0 to {@link MAX_COUNT}. */
  after: number;
}

/** The counts of one request. */
export interface CountRequest {
  /** In the order of the request's descriptors. The same counter may stand here twice: each sees its own position. */
  readonly counts: readonly Count[];
  readonly holdBack: HoldBack;
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
