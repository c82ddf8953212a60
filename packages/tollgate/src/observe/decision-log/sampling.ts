export interface SamplingOptions {
  /** `DECISION_LOG_SAMPLE`: share of the keys, 0 to 1. */
  readonly rate: number;
  /** Refusals of this thread for each second. */
  readonly refusalsPerSecond: number;
}

/** Chooses the decisions that one thread logs. */
export class Sampling {
  readonly rate: number;
  readonly #threshold: number;
  readonly #refusals: number;
  #left: number;
  #second = 0;

  constructor({ rate, refusalsPerSecond }: SamplingOptions) {
    this.rate = rate;
    this.#threshold = rate * 2 ** 32;
    this.#refusals = this.#left = refusalsPerSecond;
  }

  /** Whether a key is in the sample: always, in every thread and every replica. @param hash 32 bits, without a random seed */
  has(hash: number): boolean {
    return hash >>> 0 < this.#threshold;
  }

  /** Whether one more refusal may be logged. @param now milliseconds since the epoch */
  takeRefusal(now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#left = this.#refusals;
    }
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
