/**
 * PEP 3333 in a language that cannot block: what the callable returns is a promise of an asynchronous iterable, and
 * `wsgi.input` is read with promises. Everything else is as written there; text is Latin-1, a character for each byte.
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
  /** The request target as sent; only it tells `%2F` from `/`. Not in the PEP, but set by most servers. */
  readonly REQUEST_URI?: string;
  readonly RAW_URI?: string;
  readonly "wsgi.version": readonly [1, 0];
  readonly "wsgi.url_scheme": string;
  readonly "wsgi.input": WsgiInput;
  readonly "wsgi.errors": WsgiErrors;
  readonly "wsgi.multithread": boolean;
  readonly "wsgi.multiprocess": boolean;
  readonly "wsgi.run_once": boolean;
  /** The input ends where the body ends, whether or not CONTENT_LENGTH says where that is. */
  readonly "wsgi.input_terminated"?: boolean;
  readonly [name: string]: unknown;
}

/** The body. `read` without a size takes all; fewer bytes than asked for come only at the end. */
export interface WsgiInput extends AsyncIterable<Uint8Array> {
  read(size?: number): Promise<Uint8Array>;
}

export interface WsgiErrors {
  write(text: string): void;
  flush(): void;
}

/**
 * Status line and headers. Called again with `excInfo` it replaces headers that have not gone out, and throws
 * `excInfo` where they have.
 */
export type StartResponse = (
  status: string,
  headers: [string, string][],
  excInfo?: unknown,
) => (piece: Uint8Array) => Promise<void>;

/** The body of the answer. Whoever serves calls `close` at the end of the request, however it ended. */
export interface WsgiResult extends AsyncIterable<Uint8Array> {
  close(): Promise<void>;
}
