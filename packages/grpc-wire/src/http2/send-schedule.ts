import type { Output } from "./output.ts";

/** A stream with content that waits. */
export interface Sendable {
  /** Sends one frame. Returns whether the stream could send more at once. */
  sendFrame(): boolean;
}

/** Whose turn it is to send: streams with content that waits and a window for it, a frame each in turn. */
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

  /** Sends as much as the socket takes. @param hasWindow whether the connection's window is open */
  pump(hasWindow: () => boolean): void {
    if (this.#ready.size === 0) return;
    for (const stream of this.#ready) {
      // What the output has gathered may be all that fills it: the socket may still take it.
      if (this.#output.isFull && !this.#output.makeRoom()) return;
      this.#ready.delete(stream);
      if (stream.sendFrame()) {
        // To the end of the line.
        this.#ready.add(stream);
        if (!hasWindow()) return;
      }
    }
  }
}
