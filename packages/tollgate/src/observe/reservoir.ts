/**
 * A uniform sample of at most `capacity` of the values since it was last taken (Li, "Reservoir-Sampling Algorithms of
 * Time Complexity O(n(1 + log(N/n)))", 1994, algorithm L): how many values to pass over is drawn, not each value's fate.
 */
export class Reservoir {
  readonly #capacity: number;
  readonly #random: () => number;
  #samples: number[] = [];
  #seen = 0;
  /** Once full: which value, from 0, is kept next, and the largest of the sample's imagined weights. */
  #next = 0;
  #weight = 1;

  /** @param random as `Math.random` */
  constructor(capacity: number, random: () => number = Math.random) {
    this.#capacity = capacity;
    this.#random = random;
  }

  /** @param times how often the value was seen; default once */
  add(value: number, times = 1): void {
    const end = this.#seen + times;
    while (this.#seen < end && this.#samples.length < this.#capacity) {
      this.#samples.push(value);
      this.#seen++;
      if (this.#samples.length === this.#capacity) {
        this.#weight = 1;
        this.#next = this.#seen + this.#passed();
      }
    }
    this.#seen = end;
    if (this.#samples.length < this.#capacity) return;
    while (this.#next < end) {
      this.#samples[Math.floor(this.#random() * this.#capacity)] = value;
      this.#next += 1 + this.#passed();
    }
  }

  get seen(): number {
    return this.#seen;
  }

  /** Hands over what was sampled and starts afresh. */
  take(): { readonly samples: readonly number[]; readonly seen: number } {
    const taken = { samples: this.#samples, seen: this.#seen };
    this.#samples = [];
    this.#seen = 0;
    return taken;
  }

  /** What is sampled so far, without taking it. */
  peek(): readonly number[] {
    return this.#samples;
  }

  /** Draws how many values are passed over before the next one that is kept. */
  #passed(): number {
    this.#weight *= Math.exp(this.#log() / this.#capacity);
    return Math.floor(this.#log() / Math.log1p(-this.#weight));
  }

  /** The logarithm of a number drawn from (0, 1]. */
  #log(): number {
    return Math.log(1 - this.#random());
  }
}
