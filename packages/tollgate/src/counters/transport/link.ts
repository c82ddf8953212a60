import type { Socket } from "node:net";
import { StoreError } from "../store.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";

/** One request of a link and its replies, which arrive in order. */
export interface Exchange<Reply> {
  /** @returns whether this was the last reply */
  accept(reply: Reply): boolean;
  /** Called after the last reply, when the link is free again. */
  finish(): void;
  /** The link failed. No more replies arrive. */
  broken(error: StoreError): void;
}

/** Splits a stream of bytes into replies. The caller may reuse a chunk after {@link feed}. */
export interface ReplyParser {
  /** @throws {Error} for bytes that violate the protocol */
  feed(chunk: Buffer): void;
}

/** A socket that carries one exchange at a time. Each exchange has a timeout. */
export class Link<Reply> {
  readonly endpoint: Endpoint;
  closed = false;
  readonly #socket: Socket;
  readonly #timeout: number;
  #exchange: Exchange<Reply> | undefined;
  /** Created once and refreshed: 0.1 µs for each exchange, instead of 1 µs for a new timer. */
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
    this.#timer = setTimeout(() => this.#checkTimeout(), timeout);
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
    socket.on("close", () => this.#lost("the server closed the connection"));
  }

  get busy(): boolean {
    return this.#exchange !== undefined;
  }

  /** Calls the listener once when the link has closed, after its exchange; at once if it is already closed. */
  onClose(listener: (error: StoreError) => void): void {
    if (this.closed) listener(this.#closedError());
    else this.#onClose = listener;
  }

  /**
   * Sends an exchange. The caller may reuse the bytes after the last reply: the server has then read all of them.
   * @throws {Error} if the link is busy
   */
  write(bytes: Buffer, exchange: Exchange<Reply>): void {
    if (this.#exchange !== undefined) throw new Error(`${this.#where}: an exchange is already in progress`);
    if (this.closed) {
      exchange.broken(this.#closedError());
      return;
    }
    this.#exchange = exchange;
    this.#timer.refresh();
    this.#socket.write(bytes);
  }

  /** Sends more bytes for the exchange in progress, without a new timeout. */
  writeMore(bytes: Buffer): void {
    // The caller reuses the bytes at once.
    if (this.#exchange !== undefined) this.#socket.write(Buffer.from(bytes));
  }

  destroy(error = this.#closedError()): void {
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
   * After a pause of this process, Node runs timers before it reads sockets. The answer may already be in the socket
   * buffer. The current turn of the event loop reads it.
   */
  #checkTimeout(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    setImmediate(() => {
      if (this.#exchange === exchange) this.abortExchange();
    });
  }

  /** Closes the link if an exchange is in progress. */
  abortExchange(): void {
    if (this.#exchange === undefined) return;
    this.destroy(new StoreError("STORE_TIMEOUT", `${this.#where} did not answer within ${this.#timeout} ms`));
  }

  get #where(): string {
    return formatEndpoint(this.endpoint);
  }

  #closedError(): StoreError {
    return new StoreError("STORE_UNAVAILABLE", `${this.#where}: the connection is closed`);
  }

  #lost(reason: string, cause?: unknown): void {
    this.destroy(new StoreError("STORE_UNAVAILABLE", `${this.#where}: ${reason}`, { cause }));
  }

  #accept(reply: Reply): void {
    if (this.closed) return;
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#lost("unexpected reply");
      return;
    }
    if (!exchange.accept(reply)) return;
    this.#exchange = undefined;
    exchange.finish();
  }
}
