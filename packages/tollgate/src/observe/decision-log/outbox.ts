import type { Counter } from "../statistics.ts";

export interface OutboxOptions {
  /** Passes lines on. They count as held until `taken` is called. */
  readonly send: (batch: LineBatch) => void;
  /** Lines that did not fit. */
  readonly dropped: Counter;
  /** Bytes that may be held. Default 1 MiB. */
  readonly maxHeldBytes?: number;
}

/** Whole lines with their line ends. */
export interface LineBatch {
  readonly lines: string;
  readonly count: number;
  /** UTF-16 units are counted as bytes: a line is ASCII except for values of requests. */
  readonly size: number;
}

const BATCH = 64 * 1024;
const DELAY_MS = 50;

/** The lines of one thread on their way to the main thread. Bounded, so that a busy main thread cannot fill the memory. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #maxHeld: number;
  #lines = "";
  #count = 0;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#maxHeld = options.maxHeldBytes ?? 1024 * 1024;
  }

  /** @param line without its line end */
  add(line: string): void {
    const size = line.length + 1;
    if (this.#held + size > this.#maxHeld) {
      this.#options.dropped.value++;
      return;
    }
    this.#held += size;
    this.#lines += `${line}\n`;
    this.#count++;
    if (this.#lines.length >= BATCH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), DELAY_MS).unref();
  }

  /** The main thread has taken lines of this size. */
  taken(size: number): void {
    this.#held -= size;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#count === 0) return;
    const batch = { lines: this.#lines, count: this.#count, size: this.#lines.length };
    this.#lines = "";
    this.#count = 0;
    this.#options.send(batch);
  }
}
