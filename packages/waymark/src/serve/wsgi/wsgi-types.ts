/**
 * PEP 3333 for a language that cannot block: the callable returns a promise of an asynchronous iterable, and
 * `wsgi.input` returns promises. Everything else follows the PEP. Text is Latin-1, one character for each byte.
 */
export type WsgiApplication = (environ: WsgiEnviron, startResponse: StartResponse) => Promise<WsgiResult>;

/** CGI variables, `HTTP_*`, and the `wsgi.*` values. */
export interface WsgiEnviron {
  readonly REQUEST_METHOD: string;
  readonly SCRIPT_NAME?: string;
  readonly PATH_INFO?: string;
  readonly QUERY_STRING?: string;
  readonly CONTENT_TYPE?: string;
  readonly CONTENT_LENGTH?: string;
  readonly SERVER_NAME: string;
  readonly SERVER_PORT: string;
  readonly SERVER_PROTOCOL: string;
  readonly REMOTE_ADDR?: string;
  /** The request target as sent. Only it distinguishes `%2F` from `/`. Not in the PEP, but most servers set it. */
  readonly REQUEST_URI?: string;
  readonly RAW_URI?: string;
  readonly "wsgi.version": readonly [1, 0];
  readonly "wsgi.url_scheme": string;
  readonly "wsgi.input": WsgiInput;
  readonly "wsgi.errors": WsgiErrors;
  readonly "wsgi.multithread": boolean;
  readonly "wsgi.multiprocess": boolean;
  readonly "wsgi.run_once": boolean;
  /** True if the input ends where the body ends, even without CONTENT_LENGTH. */
  readonly "wsgi.input_terminated"?: boolean;
  readonly [name: string]: unknown;
}

/** The body. `read` without a size returns everything. It returns fewer bytes than requested only at the end. */
export interface WsgiInput extends AsyncIterable<Uint8Array> {
  read(size?: number): Promise<Uint8Array>;
}

export interface WsgiErrors {
  write(text: string): void;
  flush(): void;
}

/**
 * Sets the status line and headers. With `excInfo`, replaces headers that have not been sent, or throws `excInfo` if
 * they have.
 */
export type StartResponse = (
  status: string,
  headers: [string, string][],
  excInfo?: unknown,
) => (piece: Uint8Array) => Promise<void>;

/** The body of the answer. The server always calls `close` at the end of the request. */
export interface WsgiResult extends AsyncIterable<Uint8Array> {
  close(): Promise<void>;
}
