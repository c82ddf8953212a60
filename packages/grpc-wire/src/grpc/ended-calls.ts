import type { ReadTime } from "../http2/read-clock.ts";
import type { StatusCode } from "../status.ts";
import type { CallObserver } from "../types.ts";

interface EndedCall {
  readonly path: string;
  /** The time when the headers arrived. */
  readonly received: ReadTime;
}

export interface EndedCallsOptions {
  readonly callFinished: NonNullable<CallObserver["callFinished"]>;
  /** Called with an error of the observer. */
  readonly onFault: (error: unknown, path: string) => void;
}

/**
 * Reports ended calls to the observer. Calls from one read that end in one turn with the same status make one report: their
 * responses leave in one write, so they have the same duration, and the clock is read once (40 ns).
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
    // Calls outside of a read can also end together, for example after one response of a store.
    this.#isAwaited = true;
    process.nextTick(() => {
      this.#isAwaited = false;
      if (this.#count > 0) this.#report();
    });
  }

  /** Errors of the observer are reported like errors of handlers. They do not affect the calls. */
  #report(): void {
    const { callFinished, onFault } = this.#options;
    const count = this.#count;
    this.#count = 0;
    try {
      callFinished(this.#path, this.#code, performance.now() - this.#received!.monotonic, count);
    } catch (error) {
      onFault(error, this.#path);
    }
  }
}
