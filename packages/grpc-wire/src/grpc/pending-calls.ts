import { Deadlines, type Timed } from "./deadlines.ts";

/** Counts the pending calls of all connections, and enforces their deadlines. */
export class PendingCalls {
  readonly #deadlines = new Deadlines(() => performance.now());
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(call: Timed, hasDeadline: boolean): void {
    this.#count += 1;
    if (hasDeadline) this.#deadlines.add(call);
  }

  remove(call: Timed): void {
    this.#count -= 1;
    this.#deadlines.remove(call);
  }

  stop(): void {
    this.#deadlines.stop();
  }
}
