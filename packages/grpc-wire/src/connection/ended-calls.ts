import type { StatusCode } from "../grpc/status.ts";
import type { Host } from "./host.ts";
import type { Stream } from "./stream.ts";

/**
 * When a read began, in milliseconds, by both clocks. All calls of the read share one object: two numbers in each call
 * would be two more objects per call, because they are not small integers.
 */
export interface ReadTime {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Tells the observer of calls that have ended: of those together that one read brought and one turn answered alike.
 * Their answers leave in one write, so they took equally long, and one look at the clock (40 ns) does for all of them.
 */
export class EndedCalls {
  readonly #host: Host;
  #isReading = false;
  #isAwaited = false;
  #received: ReadTime | undefined = undefined;
  #path = "";
  #code: StatusCode = 0;
  #count = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  beginRead(): void {
    this.#isReading = true;
  }

  endRead(): void {
    this.#isReading = false;
    if (this.#count > 0) this.#tell();
  }

  add({ path, received }: Stream, code: StatusCode): void {
    if (this.#count > 0 && (received !== this.#received || path !== this.#path || code !== this.#code))
      this.#tell();
    this.#received = received;
    this.#path = path;
    this.#code = code;
    this.#count++;
    if (this.#isReading || this.#isAwaited) return;
    // What a store's one answer decides ends in one turn.
    this.#isAwaited = true;
    process.nextTick(() => {
      this.#isAwaited = false;
      if (this.#count > 0) this.#tell();
    });
  }

  /** An observer that throws is told of like a handler that does; the calls are not touched. */
  #tell(): void {
    const count = this.#count;
    this.#count = 0;
    try {
      const duration = this.#host.clock() - this.#received!.monotonic;
      this.#host.observer!.callFinished!(this.#path, this.#code, duration, count);
    } catch (error) {
      this.#host.onHandlerError?.(error, this.#path);
    }
  }
}
