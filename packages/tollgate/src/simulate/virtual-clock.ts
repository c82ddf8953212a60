/** A clock that moves only when its owner moves it, and never back. */
export class VirtualClock {
  #now: number;

  /** @param now milliseconds since the epoch */
  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  /** Moves the clock to a time. A time in the past has no effect. */
  moveTo(time: number): void {
    if (time > this.#now) this.#now = time;
  }
}
