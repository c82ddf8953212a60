/**
 * A circuit breaker. Closed: calls go to the store. Open: no call does. Half open: one call probes the store.
 *
 * It opens when several calls in a row failed and no call has succeeded for a while. Both conditions are necessary.
 * The first alone would open it for a cluster that lost one of three nodes: a third of its calls fail. The second
 * alone would open it at one failure after an idle night. It stays open for a time that doubles with each failed probe.
 */

export interface CircuitBreakerOptions {
  /** Failed calls in a row that open the breaker. Default 5. */
  readonly failures?: number;
  /** Milliseconds without a success that must also have passed. Default 100. */
  readonly quiet?: number;
  /** Milliseconds without a success after which unanswered calls also count as failed. Default 1000. */
  readonly stall?: number;
  /** Milliseconds that the breaker stays open the first time. Default 250. */
  readonly openFor?: number;
  /** The longest time that the breaker stays open before a probe, in milliseconds. Default 5000. */
  readonly openForAtMost?: number;
  /** A monotonic clock, in milliseconds: the wall clock may step. Default `performance.now`. */
  readonly clock?: () => number;
  /** 0 to 1. It keeps many processes from probing at the same moment. Default `Math.random`. */
  readonly random?: () => number;
}

/** Results of `admit`. */
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

  /** Time of the last opening, on the breaker's clock. */
  get openedAt(): number {
    return this.#openedAt;
  }

  /** Whether to make a call. Report the result of an admitted call, together with this admission. */
  admit(): Admission {
    if (!this.#isOpen) return Admission.NORMAL;
    if (this.#probing) return Admission.REFUSED;
    const wait = this.#probeAt - this.#clock();
    // If the clock was set back, the breaker would otherwise stay open for that time.
    if (wait > 0 && wait <= this.#openForAtMost) return Admission.REFUSED;
    this.#probing = true;
    return Admission.PROBE;
  }

  /**
   * A call succeeded.
   * @param begun start of the call, on the breaker's clock
   * @returns whether the breaker was open and is now closed
   */
  succeeded(admission: Admission, begun: number): boolean {
    // The call began before the breaker opened. Only a probe shows the present state of the store.
    if (this.#isOpen && admission !== Admission.PROBE) return false;
    this.#lastSuccess = begun;
    this.#failures = 0;
    this.#unanswered = 0;
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#probing = false;
    return true;
  }

  /** The store failed a call. @returns whether the breaker was closed and is now open */
  failed(admission: Admission): boolean {
    if (admission === Admission.PROBE) {
      this.#stayOpen(Math.min(this.#openFor * 2, this.#openForAtMost));
      return false;
    }
    if (this.#isOpen) return false;
    this.#failures += 1;
    return this.#openIfFailing();
  }

  /** The caller's deadline passed before the store answered. @returns as `failed` does */
  unanswered(admission: Admission): boolean {
    if (admission === Admission.PROBE) {
      // A slow store did not fail again: the wait does not double.
      this.#stayOpen(this.#openFor);
      return false;
    }
    if (this.#isOpen) return false;
    this.#unanswered += 1;
    return this.#openIfFailing();
  }

  /** The result of the call shows nothing about the store. */
  inconclusive(admission: Admission): void {
    if (admission === Admission.PROBE) this.#probing = false;
  }

  #openIfFailing(): boolean {
    const now = this.#clock();
    // If the clock was set back, the breaker would otherwise stay closed for that time.
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
