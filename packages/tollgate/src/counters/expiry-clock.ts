/**
 * The clock that decides when an ended state may be dropped.
 *
 * Windows follow the wall clock, which can step forward by days and back again (NTP, a virtual machine that resumes).
 * A counter that is dropped during such a step would start again at 0 afterwards. So a forward step takes effect here only
 * after it has lasted an hour of real time. A backward step takes effect at once.
 *
 * The rule: the offset from the monotonic clock to this clock is the smallest offset of the wall clock within the
 * last hour (up to two: two generations keep it in constant space).
 */

/** Milliseconds of a generation. */
const HOLD = 3_600_000;

/** Positions: the generation's start on the monotonic clock, then the smallest offset of the last and of this generation. */
const SINCE = 0;
const LAST = 1;
const PRESENT = 2;
export const EXPIRY_CLOCK_WORDS = 3;

export class ExpiryClock {
  readonly #words: Float64Array;
  readonly #at: number;
  readonly #monotonic: () => number;

  /**
   * @param words the clock's memory. Threads may share it: one calls `start` and `observe`, all may call `limit`.
   * @param monotonic milliseconds; the same clock in all threads
   */
  constructor(
    words: Float64Array = new Float64Array(EXPIRY_CLOCK_WORDS),
    at = 0,
    monotonic: () => number = monotonicNow,
  ) {
    this.#words = words;
    this.#at = at;
    this.#monotonic = monotonic;
  }

  /** Sets the clock to the wall clock. @param wall milliseconds since the epoch */
  start(wall: number): void {
    const now = this.#monotonic();
    this.#words[this.#at + SINCE] = now;
    this.#words[this.#at + LAST] = wall - now;
    this.#words[this.#at + PRESENT] = wall - now;
  }

  /** Takes a reading of the wall clock. Call it at least every few minutes. */
  observe(wall: number): void {
    const words = this.#words;
    const at = this.#at;
    const now = this.#monotonic();
    const offset = wall - now;
    if (now - words[at + SINCE]! >= HOLD) {
      // This order keeps other threads from reading too large a minimum.
      words[at + LAST] = words[at + PRESENT]!;
      words[at + PRESENT] = offset;
      words[at + SINCE] = now;
    } else if (offset < words[at + PRESENT]!) words[at + PRESENT] = offset;
  }

  /** States that end by this time have certainly ended. @param wall the present, in milliseconds since the epoch */
  limit(wall: number): number {
    const offset = Math.min(this.#words[this.#at + LAST]!, this.#words[this.#at + PRESENT]!);
    return Math.min(wall, offset + this.#monotonic());
  }
}

/** Milliseconds of the system's monotonic clock. Unlike `performance.now()` it is the same in all threads. */
function monotonicNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
