import type { Http2Limits } from "./options.ts";
import type { ReadClock } from "./read-clock.ts";

/** How a budget treats the work that pays for frames. */
interface BudgetOptions {
  readonly burst: number;
  readonly perSecond: number;
  readonly now: number;
  /** Work pays for frames that come much later, too. Default: it refills the burst at most. */
  readonly keepsCredit?: boolean;
}

/**
 * How many frames of a kind a peer may send. The budget grows with time and with the work that the connection did. It
 * looks at the time only when it is used up, so a well-behaved peer costs a decrement.
 */
export class FrameBudget {
  readonly #burst: number;
  readonly #perMs: number;
  readonly #keepsCredit: boolean;
  #left: number;
  #filledAt: number;
  #workThen = 0;

  constructor({ burst, perSecond, now, keepsCredit = false }: BudgetOptions) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#keepsCredit = keepsCredit;
    this.#left = burst;
    this.#filledAt = now;
  }

  /**
   * Charges one frame. False when the budget is used up.
   * @param work frames that the connection's work has paid for since its start
   */
  spend(now: number, work: number): boolean {
    if (this.#left < 1) {
      const earned = Math.min(this.#burst, this.#left + (now - this.#filledAt) * this.#perMs);
      const paid = work - this.#workThen;
      this.#left = this.#keepsCredit ? earned + paid : Math.min(this.#burst, earned + paid);
      this.#filledAt = now;
      this.#workThen = work;
      if (this.#left < 1) return false;
    }
    this.#left -= 1;
    return true;
  }
}

/** The work that a connection has done for its peer. */
export interface ConnectionWork {
  readonly answered: number;
  readonly dataFramesSent: number;
}

/** The budgets of one connection. Each method returns false when the peer gets GOAWAY with ENHANCE_YOUR_CALM. */
export class AbuseLimits {
  readonly #clock: ReadClock;
  readonly #work: ConnectionWork;
  readonly #resets: FrameBudget;
  readonly #idleFrames: FrameBudget;
  readonly #windowUpdates: FrameBudget;

  constructor(limits: Http2Limits, clock: ReadClock, work: ConnectionWork) {
    this.#clock = clock;
    this.#work = work;
    const { now } = clock;
    const idle = { burst: limits.idleFrameBurst, perSecond: limits.idleFramesPerSecond, now };
    this.#resets = new FrameBudget({ burst: limits.resetBurst, perSecond: limits.resetsPerSecond, now });
    this.#idleFrames = new FrameBudget(idle);
    this.#windowUpdates = new FrameBudget({ ...idle, keepsCredit: true });
  }

  /** A stream that the peer reset, or that it made the server reset. */
  chargeReset(): boolean {
    return this.#resets.spend(this.#clock.now, this.#work.answered);
  }

  /** A frame that carries no work. */
  chargeIdleFrame(): boolean {
    return this.#idleFrames.spend(this.#clock.now, this.#work.answered);
  }

  /** A WINDOW_UPDATE. Each DATA frame sent pays for ten of them, as many as Envoy allows. */
  chargeWindowUpdate(): boolean {
    return this.#windowUpdates.spend(this.#clock.now, 10 * (this.#work.answered + this.#work.dataFramesSent));
  }
}
