/** Node fires a timer with a longer delay at once. For later deadlines the timer fires once in between. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One timer for many deadlines: it fires at the earliest one. */
export class DeadlineTimer {
  readonly #onTime: (now: number) => void;
  #time = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param onTime called with the monotonic clock's milliseconds; it sets the timer again for the remaining deadlines */
  constructor(onTime: (now: number) => void) {
    this.#onTime = onTime;
  }

  /**
   * @param time on the monotonic clock; Infinity for never
   * @param least the shortest delay, in milliseconds
   */
  at(time: number, least = 1): void {
    if (time >= this.#time) return;
    this.#time = time;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#time = Number.POSITIVE_INFINITY;
        this.#onTime(performance.now());
      },
      Math.min(MAX_TIMER_MS, Math.max(least, Math.ceil(time - performance.now()))),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#time = Number.NEGATIVE_INFINITY;
  }
}
