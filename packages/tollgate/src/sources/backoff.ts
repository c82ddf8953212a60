export interface BackoffOptions {
  /** Milliseconds. */
  readonly initialInterval: number;
  /** Milliseconds. */
  readonly maxInterval: number;
  /** Each interval is the one before times 1 plus this. */
  readonly factor: number;
  /** Whether a wait is chosen by chance between 0 and the interval. */
  readonly jitter: boolean;
}

/** Growing waits between attempts. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #interval: number;

  /** @param random from 0 up to, but without, 1 */
  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
    this.#interval = options.initialInterval;
  }

  /** The wait before the next attempt, in milliseconds. */
  next(): number {
    const { maxInterval, factor, jitter } = this.#options;
    const interval = Math.min(this.#interval, maxInterval);
    this.#interval = interval * (1 + factor);
    return jitter ? this.#random() * interval : interval;
  }

  /** Starts over. */
  reset(): void {
    this.#interval = this.#options.initialInterval;
  }
}
