const DEFAULT_INTERVAL_MS = 60_000;

/** Limits the log lines for one kind of event: the first at once, then at most one line per interval. */
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

  /** Counts an event. Returns the number of events since the last line if a line is due, else undefined. */
  hit(): number | undefined {
    this.#count++;
    const now = this.#now();
    if (now < this.#notBefore) return undefined;
    const count = this.#count;
    this.#count = 0;
    this.#notBefore = now + this.#interval;
    return count;
  }

  /** Starts a new interval. For callers that have just logged the event themselves. */
  restart(): void {
    this.#count = 0;
    this.#notBefore = this.#now() + this.#interval;
  }
}

/** Returns `message`, or `message (12 times since the last such line)`. */
export function withCount(message: string, count: number): string {
  return count === 1 ? message : `${message} (${count} times since the last such line)`;
}
