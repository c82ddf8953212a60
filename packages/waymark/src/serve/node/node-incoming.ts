import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "../../http/http-error.ts";
import type { Incoming } from "../../http/incoming.ts";

/** The address of a connection's peer. Node's own getter costs 0.1 of 11 µs, because it looks at the handle each time. */
const ADDRESS = Symbol("address");

/** A `node:http` request for the core. */
export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly target: string;
  readonly hasBody: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** True while the client waits for "100 Continue" before it sends the body. */
  #expects: boolean;
  #abort: AbortController | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    this.method = request.method!;
    this.target = request.url!;
    this.hasBody = announcesBody(request);
    this.#request = request;
    this.#response = response;
    this.#expects = expectsContinue;
  }

  get requiresHost(): boolean {
    return this.#request.httpVersion === "1.1";
  }

  header(name: string): string | undefined {
    if (name === "host") return this.#host();
    const value: unknown = this.#request.headers[name];
    if (typeof value === "string") return value;
    return Array.isArray(value) ? value.join(", ") : undefined;
  }

  /** Node's header table keeps only the first Host. */
  #host(): string | undefined {
    const { rawHeaders } = this.#request;
    let host: string | undefined;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!;
      if (name.length !== 4 || name.toLowerCase() !== "host") continue;
      host = host === undefined ? rawHeaders[at + 1]! : `${host}, ${rawHeaders[at + 1]}`;
    }
    return host;
  }

  headers(): [string, string][] {
    const { rawHeaders } = this.#request;
    const pairs: [string, string][] = [];
    for (let at = 0; at < rawHeaders.length; at += 2)
      pairs.push([rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!]);
    return pairs;
  }

  /** True while the client waits for an invitation to send its body. */
  get holdsBack(): boolean {
    return this.#expects;
  }

  get scheme(): string {
    return "encrypted" in this.#request.socket ? "https" : "http";
  }

  get remoteAddress(): string | undefined {
    const socket = this.#request.socket as IncomingMessage["socket"] & { [ADDRESS]?: string | undefined };
    socket[ADDRESS] ??= socket.remoteAddress;
    return socket[ADDRESS];
  }

  get gone(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      const left = () => {
        if (!this.#response.writableFinished)
          abort.abort(new DOMException("the client has gone away", "AbortError"));
      };
      this.#abort = abort;
      if (this.#response.destroyed) left();
      else this.#response.once("close", left);
    }
    return this.#abort.signal;
  }

  read(limit: number): Uint8Array | Promise<Uint8Array> {
    // The stream of such a request may be destroyed already.
    if (!this.hasBody) return new Uint8Array();
    const request = this.#request;
    if (request.readableDidRead) throw new TypeError(TAKEN);
    // A request that is already destroyed emits no further event.
    if (request.destroyed) throw endedEarly();
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > limit) throw tooLarge(limit);
    if (request.complete && request.readableFlowing === null) return this.#readComplete(limit);
    this.invite();
    return this.#readArriving(limit);
  }

  /** Reads a body that has arrived completely and is in the stream's buffer, in pieces. */
  #readComplete(limit: number): Uint8Array {
    const request = this.#request;
    const length = request.readableLength;
    if (length > limit) throw tooLarge(limit);
    const first = request.read() as Uint8Array | null;
    if (first === null || first.length === length) return first ?? new Uint8Array();
    const pieces = [first];
    for (let piece = request.read(); piece !== null; piece = request.read()) pieces.push(piece as Uint8Array);
    return Buffer.concat(pieces, length);
  }

  #readArriving(limit: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const request = this.#request;
      let whole: Uint8Array | undefined;
      let pieces: Uint8Array[] | undefined;
      let size = 0;
      let settled = false;
      // The listeners stay attached, because removing them costs more than they do.
      request.on("data", (piece: Uint8Array) => {
        if (settled) return;
        size += piece.length;
        if (size > limit) {
          settled = true;
          request.pause();
          reject(tooLarge(limit));
        } else if (whole === undefined) whole = piece;
        else if (pieces === undefined) pieces = [whole, piece];
        else pieces.push(piece);
      });
      request.on("end", () => {
        settled = true;
        resolve(pieces === undefined ? (whole ?? new Uint8Array()) : Buffer.concat(pieces, size));
      });
      // Node emits no error without a listener for it, but always emits `close`.
      request.on("close", () => {
        if (settled) return;
        settled = true;
        reject(endedEarly());
      });
    });
  }

  async *stream(limit: number): AsyncGenerator<Uint8Array> {
    if (!this.hasBody) return;
    if (this.#request.readableDidRead) throw new TypeError(TAKEN);
    const announced = Number(this.#request.headers["content-length"] ?? 0);
    if (announced > limit) throw tooLarge(limit);
    this.invite();
    let size = 0;
    // A reader that stops early must not destroy the connection, which carries the answer.
    for await (const piece of this.#request.iterator({ destroyOnReturn: false })) {
      size += (piece as Uint8Array).length;
      if (size > limit) throw tooLarge(limit);
      yield piece as Uint8Array;
    }
  }

  /** Sends "100 Continue" if the client waits for it. */
  invite(): void {
    if (!this.#expects) return;
    this.#expects = false;
    this.#response.writeContinue();
  }
}

const TAKEN = "the body has already been read as a stream, through this.request";

function endedEarly(): HttpError {
  return new HttpError(400, "the body ended early");
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, `the body is larger than ${limit} bytes`);
}

/**
 * RFC 9112 section 6.3. Reading `headers` costs nothing: Node has already created it to look for `expect` and `host`.
 */
function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}
