/** Growing delays between attempts. The counter stores and the xDS client use them to reconnect. */
export interface BackoffOptions {
  /** Milliseconds. */
  readonly initialInterval: number;
  /** Milliseconds. */
  readonly maxInterval: number;
  /** Each interval is the one before times 1 plus this. */
  readonly factor: number;
  /** The random part of each delay, 0 to 1. True is 1: between 0 and the interval. False is 0: the whole interval. */
  readonly jitter: boolean | number;
}

/**
 * The delay after some failures in a row, in milliseconds.
 * @param failures at least 1
 * @param random from 0 up to, but not including, 1
 */
export function backoffDelay(
  failures: number,
  { initialInterval, maxInterval, factor, jitter }: BackoffOptions,
  random: () => number = Math.random,
): number {
  // A power can overflow to Infinity. The minimum keeps 0 times Infinity (NaN) out.
  const growth = Math.min((1 + factor) ** (failures - 1), Number.MAX_VALUE);
  const interval = Math.min(initialInterval * growth, maxInterval);
  const randomPart = Number(jitter);
  return interval * (1 - randomPart + randomPart * random());
}

/** Counts the failures for {@link backoffDelay}. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;

  /** @param random from 0 up to, but not including, 1 */
  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** The delay before the next attempt, in milliseconds. */
  next(): number {
    return backoffDelay(++this.#failures, this.#options, this.#random);
  }

  /** Starts over. */
  reset(): void {
    this.#failures = 0;
  }
}
