/** Node rings a timer that is set to more than this at once. Who asks for longer is rung once in between. */
const longest = 2 ** 31 - 1;

/** One timer for everybody who waits: set to the earliest time that somebody asked for. */
export class Alarm {
  readonly #ring: (now: number) => void;
  #time = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param ring told the monotonic clock's milliseconds; sets the alarm again for whoever still waits */
  constructor(ring: (now: number) => void) {
    this.#ring = ring;
  }

  /**
   * @param time on the monotonic clock; Infinity for never
   * @param least milliseconds from now before which it does not ring
   */
  at(time: number, least = 1): void {
    if (time >= this.#time) return;
    this.#time = time;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#time = Number.POSITIVE_INFINITY;
        this.#ring(performance.now());
      },
      Math.min(longest, Math.max(least, Math.ceil(time - performance.now()))),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#time = Number.NEGATIVE_INFINITY;
  }
}
