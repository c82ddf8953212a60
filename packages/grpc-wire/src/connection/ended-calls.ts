import type { StatusCode } from "../grpc/status.ts";
import type { Host } from "./host.ts";
import type { Stream } from "./stream.ts";

/**
 * When a read began, in milliseconds: by the wall clock, and by the monotonic one where durations are observed. One
 * object for all of its calls: two numbers in each would be two objects in each, for they are no small integers.
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
      const duration = performance.now() - this.#received!.monotonic;
      this.#host.observer!.callFinished!(this.#path, this.#code, duration, count);
    } catch (error) {
      this.#host.onHandlerError?.(error, this.#path);
    }
  }
}
