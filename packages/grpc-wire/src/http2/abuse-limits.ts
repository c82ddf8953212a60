import type { Http2Limits } from "./options.ts";
import type { ReadClock } from "./read-clock.ts";

/** The size of a frame budget, and how it counts work. */
interface BudgetOptions {
  readonly burst: number;
  readonly perSecond: number;
  readonly now: number;
  /** Keeps all credit that work earns. Default: work refills the burst at most. */
  readonly keepsCredit?: boolean;
}

/**
 * The number of frames of one kind that a peer may send. The budget grows with time and with the work of the connection.
 * It computes the growth only when it is used up, so a frame of a well-behaved peer costs one decrement.
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
   * Charges one frame. Returns false when the budget is used up.
   * @param work the number of frames that the connection's work has earned since its start
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

/** The work of a connection for its peer, since the connection's start. */
export interface ConnectionWork {
  readonly answered: number;
  readonly dataFramesSent: number;
}

/** The frame budgets of one connection. When a method returns false, the connection ends with ENHANCE_YOUR_CALM. */
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

  /** Charges a stream that the peer reset, or that the server reset because of the peer. */
  chargeReset(): boolean {
    return this.#resets.spend(this.#clock.now, this.#work.answered);
  }

  /** Charges a frame that carries no work. */
  chargeIdleFrame(): boolean {
    return this.#idleFrames.spend(this.#clock.now, this.#work.answered);
  }

  /** Charges a WINDOW_UPDATE frame. Each DATA frame sent earns ten of them, as many as Envoy allows. */
  chargeWindowUpdate(): boolean {
    return this.#windowUpdates.spend(this.#clock.now, 10 * (this.#work.answered + this.#work.dataFramesSent));
  }
}
