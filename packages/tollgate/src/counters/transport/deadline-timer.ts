/** Node rings a timer that is set to more than this at once. Who asks for longer is rung once in between. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One timer for everybody who waits: set to the earliest time that somebody asked for. */
export class DeadlineTimer {
  readonly #onTime: (now: number) => void;
  #time = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param onTime told the monotonic clock's milliseconds; sets the alarm again for whoever still waits */
  constructor(onTime: (now: number) => void) {
    this.#onTime = onTime;
  }

  /**
   * @param time on the monotonic clock; Infinity for never
   * @param least milliseconds from now before which it does not onTime
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
