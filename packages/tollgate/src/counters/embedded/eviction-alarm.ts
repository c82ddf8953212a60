/** Logs a line when a full store evicts counters before their window's end. */
import type { EmbeddedStoreStatistics } from "./figures.ts";

/** Milliseconds between two lines. */
const INTERVAL = 60_000;

export class EvictionAlarm {
  readonly #report: (line: string) => void;
  readonly #monotonic: () => number;
  #evicted = 0;
  #evictedProtected = 0;
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** @param report gets at most one line a minute */
  constructor(report: (line: string) => void, monotonic = () => performance.now()) {
    this.#report = report;
    this.#monotonic = monotonic;
  }

  /** Call it regularly. */
  check({ evicted, evictedProtected, sizeInBytes }: EmbeddedStoreStatistics): void {
    if (evicted === this.#evicted) return;
    const now = this.#monotonic();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + INTERVAL;
    const counters = evicted - this.#evicted;
    const usedUp = evictedProtected - this.#evictedProtected;
    this.#evicted = evicted;
    this.#evictedProtected = evictedProtected;
    this.#report(
      `the embedded store is full (${sizeInBytes} bytes): it evicted ${counters} counters before their window's end, ` +
        `${usedUp} of them with a used-up limit; their callers get fresh limits. Raise EMBEDDED_STORE_SIZE_IN_BYTES, ` +
        "or limit the number of distinct keys",
    );
  }
}
