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
  /** The monotonic time of the last `beginRead` or `look`: the wall clock may step. */
  now = performance.now();
  /** The start of the current or last read. */
  read: ReadTime = { wall: Date.now(), monotonic: this.now };

  beginRead(): void {
    this.now = performance.now();
    this.read = { wall: Date.now(), monotonic: this.now };
  }

  /** Reads the clock outside of a read. */
  look(): number {
    this.now = performance.now();
    return this.now;
  }
}
