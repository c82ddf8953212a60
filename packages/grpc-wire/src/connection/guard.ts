/**
 * An allowance that grows back: what a peer may do for free before it is told to calm down. The clock is only
 * looked at when the allowance is used up, so a well-behaved peer costs a decrement.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #filledAt: number;
  #answeredThen = 0;

  constructor(burst: number, perSecond: number, now: number) {
    this.#burst = burst;
    this.#perMs = perSecond / 1000;
    this.#left = burst;
    this.#filledAt = now;
  }

  /** Uses one up; false where none is left. Every call answered since then has given one back. */
  spend(now: number, answered: number): boolean {
    if (this.#left < 1) {
      const earned = (now - this.#filledAt) * this.#perMs + (answered - this.#answeredThen);
      this.#left = Math.min(this.#burst, this.#left + earned);
      this.#filledAt = now;
      this.#answeredThen = answered;
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
