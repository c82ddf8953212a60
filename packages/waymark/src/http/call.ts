import { type BodyKind, type BodyRules, bodyKind } from "./body-kind.ts";
import { cookiesOf } from "./cookies.ts";
import type { EventStreams } from "./event-streams.ts";
import type { FormField } from "./form.ts";
import { RequestHeaders } from "./headers.ts";
import type { Incoming } from "./incoming.ts";
import { originOf, type TrustProxy } from "./proxy.ts";
import { requestOf } from "./request.ts";

/** Keyword arguments as received, before conversion. Repeated names are lists. */
export type Keywords = Record<string, unknown>;

/** Status and headers that a method sets besides its return value. */
export class ResponseState {
  /** Default: 204 if the method returns nothing, else 200. */
  status: number | undefined = undefined;
  #headers: Headers | undefined = undefined;

  /** The headers of the answer. They can be changed until the answer is sent. */
  get headers(): Headers {
    this.#headers ??= new Headers();
    return this.#headers;
  }

  /** The headers, if a controller has used them. */
  get touched(): Headers | undefined {
    return this.#headers;
  }
}

export function checkStatus(status: number): void {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`this.response.status must be from 200 to 599, not ${status}`);
}

/** Settings that all calls of one class share. */
export interface CallSettings {
  readonly trustProxy: TrustProxy;
  readonly body: BodyRules;
  readonly collect: (call: Call) => Keywords;
  readonly parseMultipart: (bytes: Uint8Array, contentType: string) => Promise<FormField[]>;
  readonly events: EventStreams;
}

/** The state of one request, behind the fields of its controller. Everything is created on first use. */
export class Call {
  readonly incoming: Incoming;
  readonly settings: CallSettings;
  readonly positionals: readonly string[];
  /** The raw query, without its `?`. */
  readonly query: string;
  response: ResponseState | undefined = undefined;
  /** The body's bytes, once read. */
  bytes: Uint8Array | undefined = undefined;
  /** Whether the body fills arguments. Such a body is always read as a whole. */
  readonly #takesBody: boolean;
  #reading: Uint8Array | Promise<Uint8Array> | undefined = undefined;
  #kind: BodyKind | undefined = undefined;
  #body: unknown = undefined;
  #keywords: Keywords | undefined = undefined;
  #headers: RequestHeaders | undefined = undefined;
  #cookies: Readonly<Record<string, string>> | undefined = undefined;
  #request: Request | undefined = undefined;
  #abort: AbortController | undefined = undefined;

  constructor(
    incoming: Incoming,
    settings: CallSettings,
    positionals: readonly string[],
    query: string,
    takesBody: boolean,
  ) {
    this.incoming = incoming;
    this.settings = settings;
    this.positionals = positionals;
    this.query = query;
    this.#takesBody = takesBody;
  }

  /** The parsed body. Only the core knows its type. */
  get body(): unknown {
    return this.#body;
  }

  set body(body: unknown) {
    this.#body = body;
    // `before()` may have read the keywords before the body was parsed.
    this.#keywords = undefined;
  }

  get headers(): RequestHeaders {
    this.#headers ??= new RequestHeaders(this.incoming);
    return this.#headers;
  }

  get cookies(): Readonly<Record<string, string>> {
    this.#cookies ??= cookiesOf(this.incoming.header("cookie"));
    return this.#cookies;
  }

  get keywords(): Keywords {
    this.#keywords ??= this.settings.collect(this);
    return this.#keywords;
  }

  /** The whole body, read only once. */
  read(): Uint8Array | Promise<Uint8Array> {
    this.#reading ??= this.incoming.read(this.#limit());
    return this.#reading;
  }

  /** The kind of the body, from its content type. */
  get kind(): BodyKind {
    this.#kind ??= bodyKind(this.incoming.header("content-type"), this.settings.body);
    return this.#kind;
  }

  #limit(): number {
    const { bodyLimit, multipartLimit } = this.settings.body;
    return this.kind === "multipart" ? multipartLimit : bodyLimit;
  }

  /** The body as it arrives, once. Decides on first read, because the arguments may have read the body by then. */
  async *stream(): AsyncGenerator<Uint8Array> {
    if (this.#reading !== undefined || (this.#takesBody && this.kind !== "other")) yield await this.read();
    else yield* this.incoming.stream(this.#limit());
  }

  /** Aborts when the client goes away, and when a stop ends this answer. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const own = new AbortController();
      const { signal } = this.incoming;
      const follow = () => own.abort(signal.reason);
      if (signal.aborted) follow();
      else signal.addEventListener("abort", follow, { once: true });
      this.#abort = own;
    }
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    void this.signal;
    this.#abort!.abort(reason);
  }

  get remoteAddress(): string | undefined {
    return originOf(this.incoming, this.settings.trustProxy).remoteAddress;
  }

  /** True if the client has used HTTPS. */
  get isSecure(): boolean {
    return originOf(this.incoming, this.settings.trustProxy).scheme === "https";
  }

  get request(): Request {
    this.#request ??= requestOf(this);
    return this.#request;
  }
}
