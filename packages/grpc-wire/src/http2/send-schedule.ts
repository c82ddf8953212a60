import type { Output } from "./output.ts";

/** A stream with queued content. */
export interface Sendable {
  /** Sends one frame. Returns whether the stream could send more. */
  sendFrame(): boolean;
}

/** The streams with queued content and an open window. Each sends one frame in turn. */
export class SendSchedule {
  readonly #output: Output;
  readonly #ready = new Set<Sendable>();

  constructor(output: Output) {
    this.#output = output;
  }

  add(stream: Sendable): void {
    this.#ready.add(stream);
  }

  remove(stream: Sendable): void {
    this.#ready.delete(stream);
  }

  /**
   * Sends until the socket or the connection's window is full.
   * @param hasWindow whether the connection's window is open
   */
  pump(hasWindow: () => boolean): void {
    if (this.#ready.size === 0) return;
    for (const stream of this.#ready) {
      // The socket may still take the gathered bytes of a full output.
      if (this.#output.isFull && !this.#output.makeRoom()) return;
      this.#ready.delete(stream);
      if (stream.sendFrame()) {
        // A set keeps insertion order: the stream goes to the end.
        this.#ready.add(stream);
        if (!hasWindow()) return;
      }
    }
  }
}
