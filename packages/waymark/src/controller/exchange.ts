import { type Answer, discard, emptyAnswer, type StreamBody, setLength } from "../http/answer.ts";
import { AnswerHeaders } from "../http/answer-headers.ts";
import type { Incoming } from "../http/incoming.ts";
import { originOf, type TrustProxy } from "../http/proxy.ts";
import { CALL, type Controller } from "./controller.ts";

/** One request and its answer, for the hooks that see every answer. */
export class Exchange {
  /** The request as the server received it. */
  readonly incoming: Incoming;
  /** Monotonic time of the request's arrival, in milliseconds. */
  readonly started: number = performance.now();
  /** The path of the class that serves the request: `/books`. Undefined if there is none. */
  route: string | undefined = undefined;
  /** The controller that serves the request. Undefined before `before()`, and for a 404 or a 405. */
  controller: Controller | undefined = undefined;
  /** The error that was thrown or returned instead of an answer. Undefined for a normal answer. */
  error: unknown = undefined;
  /** Bytes of the body that were passed to the server. Complete in `onEnd`. */
  bytes = 0;
  /** In `onEnd`: whether the whole body was passed to the server. False if it failed, or the client went away. */
  complete = false;
  readonly #trust: TrustProxy;
  #answer: Answer | undefined = undefined;
  #headers: AnswerHeaders | undefined = undefined;
  #path: string | undefined = undefined;

  constructor(incoming: Incoming, trust: TrustProxy) {
    this.incoming = incoming;
    this.#trust = trust;
  }

  /** The method of the request. */
  get method(): string {
    return this.incoming.method;
  }

  /** The path as sent, without the query. */
  get path(): string {
    this.#path ??= pathOf(this.incoming.target);
    return this.#path;
  }

  /** A header of the request. */
  header(name: string): string | undefined {
    return this.incoming.header(name.toLowerCase());
  }

  /** The client's address. With `trustProxy`, the address that a trusted proxy reports. */
  get remoteAddress(): string | undefined {
    if (this.#trust === false) return this.incoming.remoteAddress;
    return originOf(this.incoming, this.#trust).remoteAddress;
  }

  /** The scheme of the request, `http` or `https`, as `trustProxy` reports it. */
  get scheme(): string {
    return this.#trust === false ? this.incoming.scheme : originOf(this.incoming, this.#trust).scheme;
  }

  /** Milliseconds since the request's arrival. */
  get duration(): number {
    return performance.now() - this.started;
  }

  /** The answer. Exists from `onAnswer` on. */
  get answer(): Answer {
    if (this.#answer === undefined)
      throw new TypeError("the request has no answer yet: read it in onAnswer or onEnd");
    return this.#answer;
  }

  /** @internal */
  set answer(answer: Answer) {
    this.#answer = answer;
    this.#headers = undefined;
  }

  /** The status of the answer. Throws a `TypeError` before there is an answer. */
  get status(): number {
    return this.answer.status;
  }

  /** The headers of the answer. Can be changed in `onAnswer`. */
  get headers(): AnswerHeaders {
    this.#headers ??= new AnswerHeaders(this.answer.headers);
    return this.#headers;
  }

  /** The body of the answer: text or bytes, a stream, or null. */
  get body(): Answer["body"] {
    return this.answer.body;
  }

  /** Replaces the body, and sets or removes `content-length`. The caller has read or released the old one. */
  replaceBody(body: string | Uint8Array | StreamBody): void {
    const { status, headers } = this.answer;
    if (typeof body === "string" || body instanceof Uint8Array)
      setLength(headers, typeof body === "string" ? new TextEncoder().encode(body).length : body.length);
    else this.headers.delete("content-length");
    this.answer = { status, headers, body };
  }

  /** Replaces the answer by one without a body: 304, or another status without content. Keeps the headers. */
  withoutContent(status: number): void {
    const { body, headers } = this.answer;
    discard(body);
    for (const name of ["content-type", "content-length"]) this.headers.delete(name);
    this.answer = emptyAnswer(status, headers);
  }
}

function pathOf(target: string): string {
  const from = target.startsWith("/") ? 0 : Math.max(0, target.indexOf("/", target.indexOf("://") + 3));
  const mark = target.indexOf("?", from);
  return target.slice(from, mark === -1 ? undefined : mark);
}

/** A value that a part of the kit keeps for each request. */
export class Slot<T> {
  // A property of the request: 0.5 µs cheaper than an entry of a `WeakMap`.
  readonly #key = Symbol("slot");

  set(of: Exchange | Controller, value: T): void {
    requestOf(of)[this.#key] = value;
  }

  get(of: Exchange | Controller): T | undefined {
    return requestOf(of)[this.#key] as T | undefined;
  }
}

/** Reads the absent property of an exchange: the operator `in` costs 60 ns more. */
function requestOf(of: Exchange | Controller): { [key: symbol]: unknown } {
  const call = (of as Partial<Controller>)[CALL];
  return (call === undefined ? (of as Exchange).incoming : call.incoming) as never;
}
