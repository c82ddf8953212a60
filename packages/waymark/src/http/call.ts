import { parseCookie } from "cookie";
import { type BodyKind, type BodyRules, bodyKind } from "./body-kind.ts";
import type { EventStreams } from "./event-streams.ts";
import { RequestHeaders } from "./headers.ts";
import type { Incoming } from "./incoming.ts";
import { originOf, type TrustProxy, urlOf } from "./proxy.ts";

/** Keyword arguments as they came, before any type: lists where a name came more than once. */
export type Keywords = Record<string, unknown>;

/** Status and headers that a method gives its answer besides the value that it returns. */
export class ResponseState {
  /** Default: 204 where nothing is returned, else 200. */
  status: number | undefined = undefined;
  #headers: Headers | undefined = undefined;

  get headers(): Headers {
    this.#headers ??= new Headers();
    return this.#headers;
  }

  /** The headers, if anybody has touched them. */
  get touched(): Headers | undefined {
    return this.#headers;
  }
}

export function checkStatus(status: number): void {
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new RangeError(`this.response.status must be from 200 to 599, not ${status}`);
}

/** What the calls of one class have in common. */
export interface CallSettings {
  readonly trustProxy: TrustProxy;
  readonly body: BodyRules;
  readonly collect: (call: Call) => Keywords;
  readonly events: EventStreams;
}

/** The state of one request, behind the fields of the controller that serves it. Everything is made when asked for. */
export class Call {
  readonly incoming: Incoming;
  readonly settings: CallSettings;
  readonly positionals: readonly string[];
  /** The raw query, without its `?`. */
  readonly query: string;
  response: ResponseState | undefined = undefined;
  /** The body's bytes, once they have been read. */
  bytes: Uint8Array | undefined = undefined;
  /** Whether the body fills arguments, so that it is read whole whoever asks first. */
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

  /** The body as parsed, which only the core knows the form of. */
  get body(): unknown {
    return this.#body;
  }

  set body(body: unknown) {
    this.#body = body;
    // `before()` may have asked when only the query was known.
    this.#keywords = undefined;
  }

  get headers(): RequestHeaders {
    this.#headers ??= new RequestHeaders(this.incoming);
    return this.#headers;
  }

  get cookies(): Readonly<Record<string, string>> {
    this.#cookies ??= parseCookie(this.incoming.header("cookie") ?? "") as Record<string, string>;
    return this.#cookies;
  }

  get keywords(): Keywords {
    this.#keywords ??= this.settings.collect(this);
    return this.#keywords;
  }

  /** The whole body, read once however often it is asked for. */
  read(): Uint8Array | Promise<Uint8Array> {
    this.#reading ??= this.incoming.read(this.#limit());
    return this.#reading;
  }

  /** What the body is, by its content type. */
  get kind(): BodyKind {
    this.#kind ??= bodyKind(this.incoming.header("content-type"), this.settings.body);
    return this.#kind;
  }

  #limit(): number {
    const { bodyLimit, multipartLimit } = this.settings.body;
    return this.kind === "multipart" ? multipartLimit : bodyLimit;
  }

  /** The body behind `request`. Decided when it is first read: by then it may have been read for the arguments. */
  async *#stream(): AsyncGenerator<Uint8Array> {
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

  get request(): Request {
    this.#request ??= this.#makeRequest();
    return this.#request;
  }

  #makeRequest(): Request {
    const { incoming } = this;
    const url = urlOf(incoming, this.settings.trustProxy);
    const { method } = incoming;
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: incoming.headers() as [string, string][],
      signal: this.signal,
    };
    // The standard's Request refuses a body with these two.
    if (incoming.hasBody && method !== "GET" && method !== "HEAD") {
      init.body = (this.bytes ?? ReadableStream.from(this.#stream())) as NonNullable<RequestInit["body"]>;
      init.duplex = "half";
    }
    return new Request(url, init);
  }
}
