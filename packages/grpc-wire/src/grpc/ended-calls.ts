import type { ReadTime } from "../http2/read-clock.ts";
import type { StatusCode } from "../status.ts";
import type { CallObserver } from "../types.ts";

interface EndedCall {
  readonly path: string;
  /** When its headers came. */
  readonly received: ReadTime;
}

export interface EndedCallsOptions {
  readonly callFinished: NonNullable<CallObserver["callFinished"]>;
  readonly clock: () => number;
  /** The observer threw. */
  readonly onFault: (error: unknown, path: string) => void;
}

/**
 * Reports calls that have ended to the observer. Calls that one read brought and one turn answered alike are reported
 * together: their answers leave in one write, so they took equally long, and one look at the clock (40 ns) is enough.
 */
export class EndedCalls {
  readonly #options: EndedCallsOptions;
  #isReading = false;
  #isAwaited = false;
  #received: ReadTime | undefined = undefined;
  #path = "";
  #code: StatusCode = 0;
  #count = 0;

  constructor(options: EndedCallsOptions) {
    this.#options = options;
  }

  beginRead(): void {
    this.#isReading = true;
  }

  endRead(): void {
    this.#isReading = false;
    if (this.#count > 0) this.#report();
  }

  add({ path, received }: EndedCall, code: StatusCode): void {
    if (this.#count > 0 && (received !== this.#received || path !== this.#path || code !== this.#code))
      this.#report();
    this.#received = received;
    this.#path = path;
    this.#code = code;
    this.#count++;
    if (this.#isReading || this.#isAwaited) return;
    // Calls that one answer of a store decides end in one turn.
    this.#isAwaited = true;
    process.nextTick(() => {
      this.#isAwaited = false;
      if (this.#count > 0) this.#report();
    });
  }

  /** An observer that throws is reported like a handler that does. The calls are not touched. */
  #report(): void {
    const { callFinished, clock, onFault } = this.#options;
    const count = this.#count;
    this.#count = 0;
    try {
      callFinished(this.#path, this.#code, clock() - this.#received!.monotonic, count);
    } catch (error) {
      onFault(error, this.#path);
    }
  }
}
