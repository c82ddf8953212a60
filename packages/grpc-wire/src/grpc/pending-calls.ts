import { DeadlineWheel, type Timed } from "./deadlines.ts";

/** Calls that are answered later, over all connections: counted, and under the watch of their deadlines. */
export class PendingCalls {
  readonly #deadlines: DeadlineWheel;
  #count = 0;

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number) {
    this.#deadlines = new DeadlineWheel(clock);
  }

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
