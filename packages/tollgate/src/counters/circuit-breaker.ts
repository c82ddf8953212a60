/**
 * Whether it is worth asking the store: closed (ask), open (do not), half open (ask once, and see).
 *
 * It opens when several calls in a row failed and none has succeeded for a while. Both are needed: the first alone
 * opens on a cluster that lost one of three nodes, of whose calls a third fails, the second alone on a single
 * failure after a quiet night. It stays open for a time that doubles with each probe that fails.
 */

export interface CircuitBreakerOptions {
  /** Failed calls in a row that open it. Default 5. */
  readonly failures?: number;
  /** Milliseconds without a success, which it takes besides. Default 100. */
  readonly quiet?: number;
  /** Milliseconds without a success after which calls that went unanswered count as failed, too. Default 1000. */
  readonly stall?: number;
  /** Milliseconds that it stays open at first. Default 250. */
  readonly openFor?: number;
  /** Milliseconds that it stays open at most, in a long outage. Default 5000. */
  readonly openForAtMost?: number;
  /** Monotonic, in milliseconds: the wall clock may step. Default `performance.now`. */
  readonly clock?: () => number;
  /** 0 to 1, so that many processes do not probe at the same moment. Default `Math.random`. */
  readonly random?: () => number;
}

/** What `admit` says. */
export const Admission = { REFUSED: 0, NORMAL: 1, PROBE: 2 } as const;
export type Admission = (typeof Admission)[keyof typeof Admission];

export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #quiet: number;
  readonly #stall: number;
  readonly #openForAtFirst: number;
  readonly #openForAtMost: number;
  readonly #clock: () => number;
  readonly #random: () => number;
  #failures = 0;
  #unanswered = 0;
  #lastSuccess = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  #probing = false;
  #openedAt = 0;
  #probeAt = 0;
  #openFor = 0;

  constructor(options: CircuitBreakerOptions = {}) {
    this.#failuresToOpen = options.failures ?? 5;
    this.#quiet = options.quiet ?? 100;
    this.#stall = options.stall ?? 1000;
    this.#openForAtFirst = options.openFor ?? 250;
    this.#openForAtMost = options.openForAtMost ?? 5000;
    this.#clock = options.clock ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When it opened last, by its clock. */
  get openedAt(): number {
    return this.#openedAt;
  }

  /** Whether to make a call. What became of a call that was admitted is to be told, with what this returned. */
  admit(): Admission {
    if (!this.#isOpen) return Admission.NORMAL;
    if (this.#probing) return Admission.REFUSED;
    const wait = this.#probeAt - this.#clock();
    // A clock that was set back would keep it open for as long.
    if (wait > 0 && wait <= this.#openForAtMost) return Admission.REFUSED;
    this.#probing = true;
    return Admission.PROBE;
  }

  /**
   * A call succeeded.
   * @param begun when, by the breaker's clock
   * @returns whether it was open and is closed now
   */
  succeeded(admission: Admission, begun: number): boolean {
    // Until the probe is back, what was asked before it opened says nothing of the store as it is now.
    if (this.#isOpen && admission !== Admission.PROBE) return false;
    this.#lastSuccess = begun;
    this.#failures = 0;
    this.#unanswered = 0;
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#probing = false;
    return true;
  }

  /** The store failed a call. @returns whether it was closed and is open now */
  failed(admission: Admission): boolean {
    if (admission === Admission.PROBE) {
      this.#stayOpen(Math.min(this.#openFor * 2, this.#openForAtMost));
      return false;
    }
    if (this.#isOpen) return false;
    this.#failures += 1;
    return this.#judge();
  }

  /** The caller went before the store had answered, after a patient wait. @returns as `failed` does */
  unanswered(admission: Admission): boolean {
    if (admission === Admission.PROBE) {
      // A slow store is not a worse one: it is asked again as soon.
      this.#stayOpen(this.#openFor);
      return false;
    }
    if (this.#isOpen) return false;
    this.#unanswered += 1;
    return this.#judge();
  }

  /** The call ended without a word on the store. */
  saidNothing(admission: Admission): void {
    if (admission === Admission.PROBE) this.#probing = false;
  }

  #judge(): boolean {
    const now = this.#clock();
    // A clock that was set back would keep it closed for as long.
    const silence = now < this.#lastSuccess ? Number.POSITIVE_INFINITY : now - this.#lastSuccess;
    const fails = this.#failures >= this.#failuresToOpen && silence >= this.#quiet;
    const stalls = this.#failures + this.#unanswered >= this.#failuresToOpen && silence >= this.#stall;
    if (!fails && !stalls) return false;
    this.#isOpen = true;
    this.#openedAt = now;
    this.#stayOpen(this.#openForAtFirst);
    return true;
  }

  #stayOpen(milliseconds: number): void {
    this.#openFor = milliseconds;
    this.#probing = false;
    this.#probeAt = this.#clock() + milliseconds * (0.8 + 0.2 * this.#random());
  }
}
