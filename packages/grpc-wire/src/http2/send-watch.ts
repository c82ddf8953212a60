import type { Output } from "./output.ts";

/** Finds out whether a peer still takes the bytes that it is sent. */
export class SendWatch {
  readonly #output: Output;
  readonly #timeoutMs: number;
  /** Since when unsent bytes wait without the peer taking any, and how many it had taken by then. */
  #stuckSince = 0;
  #takenThen = 0;

  constructor(output: Output, timeoutMs: number) {
    this.#output = output;
    this.#timeoutMs = timeoutMs;
  }

  /** Whether bytes have waited for the whole time-out, and the peer took none. To be asked every so often. */
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
