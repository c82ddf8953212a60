import type { Output } from "./output.ts";

/** Detects a peer that does not read. */
export class SendWatch {
  readonly #output: Output;
  readonly #timeoutMs: number;
  /** The time since when unsent bytes wait and the kernel takes none; 0 without unsent bytes. */
  #stuckSince = 0;
  /** The number of taken bytes at the last check. */
  #takenThen = 0;

  constructor(output: Output, timeoutMs: number) {
    this.#output = output;
    this.#timeoutMs = timeoutMs;
  }

  /** Whether unsent bytes have waited for the whole time-out, and the kernel took none. Call it at intervals. */
  isStuck(now: number): boolean {
    const { unsent, taken } = this.#output;
    if (unsent === 0 || this.#timeoutMs === 0) {
      this.#stuckSince = 0;
      return false;
    }
    if (this.#stuckSince === 0 || taken !== this.#takenThen) this.#stuckSince = now;
    this.#takenThen = taken;
    return now - this.#stuckSince >= this.#timeoutMs;
  }
}
