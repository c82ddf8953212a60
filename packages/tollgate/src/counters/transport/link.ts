import type { Socket } from "node:net";
import { StoreError } from "../store.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";

/** What a link carries: its bytes are written at once, then its replies come in order. */
export interface Exchange<Reply> {
  /** @returns true when this was the last reply */
  accept(reply: Reply): boolean;
  /** Called after the last reply, when the link is free again. */
  finish(): void;
  /** No more replies come. */
  broken(error: StoreError): void;
}

/** Cuts a stream of bytes into replies. A chunk belongs to its owner again after {@link feed}. */
export interface ReplyParser {
  /** @throws {Error} on bytes that are not of the protocol */
  feed(chunk: Buffer): void;
}

/** A socket that carries one exchange at a time, each within a time-out. */
export class Link<Reply> {
  readonly endpoint: Endpoint;
  closed = false;
  readonly #socket: Socket;
  readonly #timeout: number;
  #exchange: Exchange<Reply> | undefined;
  /** Made once and refreshed: 0.1 µs for each exchange, against 1 µs for a new timer. */
  readonly #timer: NodeJS.Timeout;
  #onClose: (error: StoreError) => void = () => {};

  constructor(
    socket: Socket,
    endpoint: Endpoint,
    timeout: number,
    makeParser: (accept: (reply: Reply) => void) => ReplyParser,
  ) {
    this.#socket = socket;
    this.endpoint = endpoint;
    this.#timeout = timeout;
    this.#timer = setTimeout(() => this.#suspect(), timeout);
    this.#timer.unref();
    const parser = makeParser((reply) => this.#accept(reply));
    socket.on("data", (chunk: Buffer) => {
      try {
        parser.feed(chunk);
      } catch (cause) {
        this.#lost((cause as Error).message, cause);
      }
    });
    socket.on("error", (cause: NodeJS.ErrnoException) => this.#lost(cause.code ?? cause.message, cause));
    socket.on("close", () => this.#lost("the other side closed the connection"));
  }

  get busy(): boolean {
    return this.#exchange !== undefined;
  }

  /** Tells once that the link is gone, after its exchange was told; at once where it is gone already. */
  onClose(listener: (error: StoreError) => void): void {
    if (this.closed) listener(this.#givenUp());
    else this.#onClose = listener;
  }

  /**
   * Sends an exchange. The bytes may be written over once its last reply has come: all of them were read by the
   * other side then.
   * @throws {Error} when the link is busy
   */
  write(bytes: Buffer, exchange: Exchange<Reply>): void {
    if (this.#exchange !== undefined) throw new Error(`${this.#where}: an exchange is under way already`);
    if (this.closed) {
      exchange.broken(this.#givenUp());
      return;
    }
    this.#exchange = exchange;
    this.#timer.refresh();
    this.#socket.write(bytes);
  }

  destroy(error = this.#givenUp()): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    try {
      exchange?.broken(error);
    } finally {
      this.#onClose(error);
    }
  }

  /**
   * After this process itself stood still, timers are heard before what has come in meanwhile: the answer may lie in
   * the socket, and is read within this turn of the event loop.
   */
  #suspect(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    setImmediate(() => {
      if (this.#exchange === exchange) this.tooSlow();
    });
  }

  /** Gives up when an exchange is under way. */
  tooSlow(): void {
    if (this.#exchange === undefined) return;
    this.destroy(new StoreError("STORE_TIMEOUT", `${this.#where} did not answer within ${this.#timeout} ms`));
  }

  get #where(): string {
    return formatEndpoint(this.endpoint);
  }

  #givenUp(): StoreError {
    return new StoreError("STORE_UNAVAILABLE", `${this.#where}: the connection was given up`);
  }

  #lost(reason: string, cause?: unknown): void {
    this.destroy(new StoreError("STORE_UNAVAILABLE", `${this.#where}: ${reason}`, { cause }));
  }

  #accept(reply: Reply): void {
    if (this.closed) return;
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#lost("a reply that nobody asked for");
      return;
    }
    if (!exchange.accept(reply)) return;
    this.#exchange = undefined;
    exchange.finish();
  }
}
