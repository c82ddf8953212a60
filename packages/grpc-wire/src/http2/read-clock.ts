/**
 * When a read began, in milliseconds, by both clocks. All streams of the read share one object: two numbers in each
 * would be two more objects per stream, because they are not small integers.
 */
export interface ReadTime {
  readonly wall: number;
  readonly monotonic: number;
}

/** One connection's view of the monotonic clock: one look for all frames of a read. */
export class ReadClock {
  readonly #clock: () => number;
  #now: number;
  #read: ReadTime;

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
    this.#now = clock();
    this.#read = { wall: Date.now(), monotonic: this.#now };
  }

  /** The time of the last look: the start of the current read, sweep or drain. */
  get now(): number {
    return this.#now;
  }

  /** When the current or last read began. */
  get read(): ReadTime {
    return this.#read;
  }

  beginRead(): void {
    this.#now = this.#clock();
    this.#read = { wall: Date.now(), monotonic: this.#now };
  }

  /** Looks at the clock outside of a read. */
  look(): number {
    this.#now = this.#clock();
    return this.#now;
  }
}
