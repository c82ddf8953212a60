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
export class Allowance {
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

/** How a stream that is gone was closed, where that matters for frames that still arrive. */
export const Closed = {
  /** Not among those remembered. */
  UNKNOWN: 0,
  BY_US: 1,
  BY_PEER: 2,
} as const;

const REMEMBERED = 256;

/**
 * The streams that were cut short lately. What a peer had under way for a stream that we reset is ignored
 * (RFC 9113 section 5.1, "closed"); after an end that both sides agreed on, a frame is an error.
 */
export class ResetStreams {
  #how: Map<number, number> | undefined;
  /** Below this id, what is not remembered may have been forgotten. */
  #forgottenBelow = 0;

  add(id: number, how: number): void {
    this.#how ??= new Map();
    this.#how.set(id, how);
    if (this.#how.size <= REMEMBERED) return;
    const oldest = this.#how.keys().next().value!;
    this.#how.delete(oldest);
    this.#forgottenBelow = Math.max(this.#forgottenBelow, oldest + 1);
  }

  lookup(id: number): number {
    const how = this.#how?.get(id);
    if (how !== undefined) return how;
    return id < this.#forgottenBelow ? Closed.BY_US : Closed.UNKNOWN;
  }
}
