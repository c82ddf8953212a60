import { MAX_WINDOW } from "../frames/constants.ts";
import type { Connection } from "./connection.ts";
import { pumpOnce } from "./responses.ts";
import type { Stream } from "./stream.ts";

/** Whose turn it is to send: streams with bytes that wait and a window for them, a frame each in turn. */
export class SendSchedule {
  readonly #connection: Connection;
  readonly #ready = new Set<Stream>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Sends what waits on `stream` as the windows allow: at the end of the read, or at once outside of one. */
  add(stream: Stream): void {
    this.#ready.add(stream);
    if (!this.#connection.output.corked) this.pump();
  }

  /** The stream's window has changed, within a read. */
  onWindow(stream: Stream): void {
    if (stream.sendWindow > 0 && stream.queue !== undefined && stream.queue.bytes > 0)
      this.#ready.add(stream);
  }

  remove(stream: Stream): void {
    this.#ready.delete(stream);
  }

  pump(): void {
    if (this.#ready.size === 0) return;
    const connection = this.#connection;
    for (const stream of this.#ready) {
      // What the output has gathered may be all that fills it: the socket may still take it.
      if (connection.output.isFull && !connection.output.makeRoom()) return;
      this.#ready.delete(stream);
      // What still has something to say goes to the end of the line.
      if (pumpOnce(connection, stream)) {
        this.#ready.add(stream);
        if (connection.sendWindow <= 0) return;
      }
    }
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE changed by `change` (RFC 9113 section 6.9.2). False where a window overflows. */
  shiftWindows(change: number): boolean {
    for (const stream of this.#connection.streams.list()) {
      stream.sendWindow += change;
      if (stream.sendWindow > MAX_WINDOW) return false;
      this.onWindow(stream);
    }
    return true;
  }
}
