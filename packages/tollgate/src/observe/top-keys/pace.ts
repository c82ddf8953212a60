/** Decisions that are counted in each second. A power of two. */
export const COUNTED_PER_SECOND = 2048;
/** A decision never represents more others than this. */
const MOST = 2 ** 20;
const SECOND = 1000;

/**
 * Chooses the decisions that are counted: all of them up to {@link COUNTED_PER_SECOND}, and of more a random share. So the cost of
 * counting has a bound, and the relative precision does not depend on the load.
 */
export class Pace {
  #from = 0;
  #until = 0;
  #seen = 0;
  #taken = 0;
  #every = 1;
  #threshold = 2 ** 32;
  #random: number;

  /** @param seed of the random choice; not 0 */
  constructor(seed: number) {
    this.#random = seed;
  }

  /**
   * Returns how many decisions this one represents; 0 if it is not counted.
   * @param now milliseconds since the epoch
   */
  take(now: number): number {
    if (now >= this.#until || now < this.#from) this.#turn(now);
    this.#seen++;
    const every = this.#every;
    if (every > 1 && this.#next() >= this.#threshold) return 0;
    if (++this.#taken === COUNTED_PER_SECOND) {
      this.#setEvery(Math.min(2 * every, MOST));
      this.#taken = COUNTED_PER_SECOND / 2;
    }
    return every;
  }

  #turn(now: number): void {
    const isNext = now >= this.#until && now < this.#until + SECOND;
    const needed = isNext ? 2 ** Math.ceil(Math.log2(this.#seen / COUNTED_PER_SECOND)) : 1;
    this.#setEvery(Math.max(1, Math.min(needed, MOST)));
    this.#from = now;
    this.#until = now + SECOND;
    this.#seen = this.#taken = 0;
  }

  #setEvery(every: number): void {
    this.#every = every;
    this.#threshold = 2 ** 32 / every;
  }

  /** xorshift32 (Marsaglia): a few shifts, good enough to choose a share. */
  #next(): number {
    let random = this.#random;
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    this.#random = random;
    return random >>> 0;
  }
}
