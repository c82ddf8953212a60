/**
 * The time when a read began, in milliseconds. All streams of the read share one object. Two numbers per stream would
 * cost two objects per stream, because they are not small integers.
 */
export interface ReadTime {
  readonly wall: number;
  readonly monotonic: number;
}

/** Reads the clock once for all frames of a read. */
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

  /** The monotonic time of the last `beginRead` or `look`. */
  get now(): number {
    return this.#now;
  }

  /** The start of the current or last read. */
  get read(): ReadTime {
    return this.#read;
  }

  beginRead(): void {
    this.#now = this.#clock();
    this.#read = { wall: Date.now(), monotonic: this.#now };
  }

  /** Reads the clock outside of a read. */
  look(): number {
    this.#now = this.#clock();
    return this.#now;
  }
}
