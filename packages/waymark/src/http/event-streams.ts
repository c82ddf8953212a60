/** An answer of server-sent events that is open. */
interface EventStream {
  /** Aborts the signal of its request. */
  abort(): void;
  /** Ends the stream in an orderly way. */
  end(): void;
}

/** The event streams that an application has open. They have no end of their own, so a stop has to end them. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  #closing = false;

  /** Returns what to call when the stream has ended. */
  add(stream: EventStream): () => void {
    this.#open.add(stream);
    if (this.#closing) close(stream);
    return () => this.#open.delete(stream);
  }

  /** Ends every stream that is open, and every one that opens before `reopen()`. */
  close(): void {
    this.#closing = true;
    for (const stream of this.#open) close(stream);
  }

  reopen(): void {
    this.#closing = false;
  }
}

/** A source that hears the signal has one turn to send a last event. */
function close(stream: EventStream): void {
  stream.abort();
  setImmediate(() => stream.end());
}
