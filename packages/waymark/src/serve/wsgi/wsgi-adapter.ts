import { Buffer } from "node:buffer";
import { type Answer, discard, endStream, isStream } from "../../http/answer.ts";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import { REASONS } from "../../http/status.ts";
import { passableAnswer } from "../gateway/head.ts";
import type { RequestHandler } from "../handler.ts";
import { WsgiIncoming } from "./wsgi-incoming.ts";
import type { StartResponse, WsgiApplication, WsgiResult } from "./wsgi-types.ts";

/** The WSGI callable (PEP 3333) of an application. */
export function wsgiAdapter(application: RequestHandler): WsgiApplication {
  return async (environ, startResponse) => {
    const incoming = new WsgiIncoming(environ);
    const report = (error: unknown) => application.report(error, incoming);
    const answer = passableAnswer(await application.handle(incoming), report);
    try {
      startResponse(statusLine(answer.status), pairs(answer.headers));
    } catch (error) {
      discard(answer.body);
      throw error;
    }
    return new Result(answer, incoming, startResponse, report);
  };
}

/** The body in pieces. An error of the source becomes a 500 if nothing has been sent. Otherwise it is thrown. */
class Result implements WsgiResult, AsyncIterator<Uint8Array> {
  readonly #incoming: WsgiIncoming;
  readonly #startResponse: StartResponse;
  readonly #report: (error: unknown) => void;
  readonly #source: AsyncIterator<Uint8Array | string> | undefined;
  #whole: string | Uint8Array | undefined;
  #begun = false;
  #finished = false;

  constructor(
    { body }: Answer,
    incoming: WsgiIncoming,
    startResponse: StartResponse,
    report: (error: unknown) => void,
  ) {
    this.#incoming = incoming;
    this.#startResponse = startResponse;
    this.#report = report;
    this.#source = isStream(body) ? body[Symbol.asyncIterator]() : undefined;
    this.#whole = isStream(body) || body === null || body.length === 0 ? undefined : body;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const piece = this.#finished
      ? undefined
      : this.#source === undefined
        ? this.#takeWhole()
        : await this.#step();
    if (piece !== undefined) return { done: false, value: piece };
    this.#finished = true;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    await this.close();
    return { done: true, value: undefined };
  }

  async close(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    this.#incoming.leave();
    const source = this.#source;
    if (source !== undefined) await endStream({ [Symbol.asyncIterator]: () => source });
  }

  #takeWhole(): Uint8Array | undefined {
    const whole = this.#whole;
    this.#whole = undefined;
    this.#finished = true;
    return whole === undefined ? undefined : bytesOf(whole);
  }

  async #step(): Promise<Uint8Array | undefined> {
    try {
      for (;;) {
        const step = await this.#source!.next();
        if (step.done === true) return undefined;
        // Only the first piece may be empty: it sends the head.
        const wanted = step.value.length > 0 || !this.#begun;
        this.#begun = true;
        if (wanted) return bytesOf(step.value);
      }
    } catch (error) {
      this.#finished = true;
      this.#report(error);
      const { status, headers, body } = problemAnswer(new HttpError(500));
      // Throws the error again if the headers have been sent. The server then cuts the answer off.
      this.#startResponse(statusLine(status), pairs(headers), error);
      return bytesOf(body as string);
    }
  }
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
}

function pairs(headers: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at]!, headers[at + 1]!]);
  return pairs;
}

const SUCCESSES: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  203: "Non-Authoritative Information",
  204: "No Content",
  205: "Reset Content",
  206: "Partial Content",
  207: "Multi-Status",
  300: "Multiple Choices",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
};

/** The status line, with a reason phrase of at least one character. */
export function statusLine(status: number): string {
  return `${status} ${SUCCESSES[status] ?? REASONS[status] ?? "Status"}`;
}
