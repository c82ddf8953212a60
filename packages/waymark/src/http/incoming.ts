/**
 * One request for the core. Each interface (node:http, fetch, WSGI, ASGI) has an adapter that implements it. The
 * types of an interface stay in its adapter.
 */
export interface Incoming {
  /** The method as sent, case preserved: `GET`. */
  readonly method: string;
  /** The request-target as sent, still percent-encoded: `/a/b?x=1`, `*`, or absolute-form. */
  readonly target: string;
  /**
   * One header by its lower-case name. Several values, including those of `host`, are joined by `, ` (cookies by `;
   * `).
   */
  header(name: string): string | undefined;
  /** True if the protocol requires a Host header: HTTP/1.1. */
  readonly requiresHost: boolean;
  /** All headers in the order sent, names in lower case. */
  headers(): ReadonlyArray<readonly [string, string]>;
  /** `http` or `https`, as the interface received it. The core evaluates proxy headers. */
  readonly scheme: string;
  /** The peer's address, if the interface provides it. */
  readonly remoteAddress: string | undefined;
  /** False if the request certainly has no body. */
  readonly hasBody: boolean;
  /**
   * The whole body, returned synchronously if it has already arrived. Throws a 413 `HttpError` beyond `limit` bytes.
   * Called at most once.
   */
  read(limit: number): Uint8Array | Promise<Uint8Array>;
  /**
   * The body as it arrives, at the reader's pace. Throws a 413 `HttpError` beyond `limit` bytes. Never called after
   * `read`.
   */
  stream(limit: number): AsyncIterable<Uint8Array>;
  /** Aborts when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** True once the client has gone away. */
  readonly gone: boolean;
}
