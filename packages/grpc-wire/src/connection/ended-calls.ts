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
 * Tells the observer of calls that have ended. Those that a read both brought and answered took equally long, since
 * their answers leave together: they are told of together, with one look at the clock (40 ns) for all of them.
 */
export class EndedCalls {
  readonly #host: Host;
  /** The read under way. */
  #read: ReadTime | undefined = undefined;
  #path = "";
  #code: StatusCode = 0;
  #count = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  beginRead(read: ReadTime): void {
    this.#read = read;
  }

  endRead(): void {
    if (this.#count > 0) this.#tellRun();
    this.#read = undefined;
  }

  add({ path, received }: Stream, code: StatusCode): void {
    if (received !== this.#read) {
      this.#tell(path, code, received, 1);
      return;
    }
    if (this.#count > 0 && (path !== this.#path || code !== this.#code)) this.#tellRun();
    this.#path = path;
    this.#code = code;
    this.#count++;
  }

  #tellRun(): void {
    const count = this.#count;
    this.#count = 0;
    this.#tell(this.#path, this.#code, this.#read!, count);
  }

  /** An observer that throws is told of like a handler that does; the calls are not touched. */
  #tell(path: string, code: StatusCode, { monotonic }: ReadTime, calls: number): void {
    try {
      this.#host.observer!.callFinished!(path, code, performance.now() - monotonic, calls);
    } catch (error) {
      this.#host.onHandlerError?.(error, path);
    }
  }
}
