import { nextTurn } from "./turn.ts";

/** An open answer of server-sent events. */
interface EventStream {
  /** Aborts the request's signal. */
  abort(): void;
  /** Ends the stream cleanly. */
  end(): void;
}

/** The open event streams of an application. They never end by themselves, so a stop ends them. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  #closing = false;

  /** Returns a function to call when the stream has ended. */
  add(stream: EventStream): () => void {
    this.#open.add(stream);
    if (this.#closing) close(stream);
    return () => this.#open.delete(stream);
  }

  /** Ends every open stream, and every stream that opens before `reopen()`. */
  close(): void {
    this.#closing = true;
    for (const stream of this.#open) close(stream);
  }

  reopen(): void {
    this.#closing = false;
  }
}

/** A source that observes the signal has one turn to send a last event. */
function close(stream: EventStream): void {
  stream.abort();
  nextTurn(() => stream.end());
}
