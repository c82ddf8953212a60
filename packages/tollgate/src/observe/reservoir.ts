/**
 * A uniform sample of at most `capacity` values since the last {@link take} (Li, "Reservoir-Sampling Algorithms of Time
 * Complexity O(n(1 + log(N/n)))", 1994, algorithm L). The algorithm draws how many values to skip, instead of one random
 * number for each value.
 */
export class Reservoir {
  readonly #capacity: number;
  readonly #random: () => number;
  #samples: number[] = [];
  #seen = 0;
  /** Once full: the index of the next value to keep, and algorithm L's `W`. */
  #next = 0;
  #weight = 1;

  /** @param random as `Math.random` */
  constructor(capacity: number, random: () => number = Math.random) {
    this.#capacity = capacity;
    this.#random = random;
  }

  /** @param times how often the value occurred. Default 1. */
  add(value: number, times = 1): void {
    const end = this.#seen + times;
    while (this.#seen < end && this.#samples.length < this.#capacity) {
      this.#samples.push(value);
      this.#seen++;
      if (this.#samples.length === this.#capacity) {
        this.#weight = 1;
        this.#next = this.#seen + this.#skip();
      }
    }
    this.#seen = end;
    if (this.#samples.length < this.#capacity) return;
    while (this.#next < end) {
      this.#samples[Math.floor(this.#random() * this.#capacity)] = value;
      this.#next += 1 + this.#skip();
    }
  }

  get seen(): number {
    return this.#seen;
  }

  /** Returns the sample and starts a new one. */
  take(): { readonly samples: readonly number[]; readonly seen: number } {
    const taken = { samples: this.#samples, seen: this.#seen };
    this.#samples = [];
    this.#seen = 0;
    return taken;
  }

  /** Returns the current sample without starting a new one. */
  peek(): readonly number[] {
    return this.#samples;
  }

  /** Draws how many values to skip before the next one to keep. */
  #skip(): number {
    this.#weight *= Math.exp(this.#log() / this.#capacity);
    return Math.floor(this.#log() / Math.log1p(-this.#weight));
  }

  /** The logarithm of a random number from (0, 1]. */
  #log(): number {
    return Math.log(1 - this.#random());
  }
}
