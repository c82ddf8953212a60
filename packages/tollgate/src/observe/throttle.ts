const DEFAULT_INTERVAL_MS = 60_000;

/** Bounds how often one kind of event is logged: the first at once, then at most one line per interval. */
export class Throttle {
  readonly #interval: number;
  readonly #now: () => number;
  #count = 0;
  /** Monotonic milliseconds; no line before it. */
  #notBefore = Number.NEGATIVE_INFINITY;

  /** @param now monotonic milliseconds */
  constructor(interval: number = DEFAULT_INTERVAL_MS, now: () => number = () => performance.now()) {
    this.#interval = interval;
    this.#now = now;
  }

  /** Counts an event. Returns the events since the last line if a line is due, else undefined. */
  hit(): number | undefined {
    this.#count++;
    const now = this.#now();
    if (now < this.#notBefore) return undefined;
    const count = this.#count;
    this.#count = 0;
    this.#notBefore = now + this.#interval;
    return count;
  }

  /** Starts an interval without events: the caller has just logged. */
  restart(): void {
    this.#count = 0;
    this.#notBefore = this.#now() + this.#interval;
  }
}

/** `message`, or `message (12 times since the last such line)`. */
export function withCount(message: string, count: number): string {
  return count === 1 ? message : `${message} (${count} times since the last such line)`;
}
