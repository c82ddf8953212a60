/**
 * One request as the core sees it. Every interface (node:http, fetch, WSGI, ASGI) has an adapter that
 * implements this; none of their own types goes further than the adapter.
 */
export interface Incoming {
  /** As sent, case preserved: `GET`. */
  readonly method: string;
  /** The request-target as sent, still percent-encoded: `/a/b?x=1`, `*`, or absolute-form. */
  readonly target: string;
  /** One header, its name in lower case; several values, of `host` too, joined by `, ` (`; ` for cookies). */
  header(name: string): string | undefined;
  /** True where the protocol asks for a Host header: HTTP/1.1. */
  readonly requiresHost: boolean;
  /** All headers in the order sent, names in lower case. */
  headers(): ReadonlyArray<readonly [string, string]>;
  /** `http` or `https`, as the interface saw it (proxies' headers are the core's affair). */
  readonly scheme: string;
  /** The peer's address, where the interface knows it. */
  readonly remoteAddress: string | undefined;
  /** False when there certainly is no body. */
  readonly hasBody: boolean;
  /** The whole body, at once where it is there; a 413 `HttpError` beyond `limit` bytes. Called at most once. */
  read(limit: number): Uint8Array | Promise<Uint8Array>;
  /** The body as it arrives, at the reader's pace; throws a 413 `HttpError` beyond `limit` bytes. Never after `read`. */
  stream(limit: number): AsyncIterable<Uint8Array>;
  /** Aborts when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
  /** True once the client has gone away. */
  readonly gone: boolean;
}
