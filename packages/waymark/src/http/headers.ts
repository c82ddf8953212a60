import type { Incoming } from "./incoming.ts";

/** The request's headers, read-only, with the reading methods of the WHATWG `Headers` interface. */
export class RequestHeaders implements Iterable<readonly [string, string]> {
  readonly #incoming: Incoming;

  constructor(incoming: Incoming) {
    this.#incoming = incoming;
  }

  /** The value of a header, or null. The values of a repeated header are joined. */
  get(name: string): string | null {
    return this.#incoming.header(name.toLowerCase()) ?? null;
  }

  /** Whether the request has the header. */
  has(name: string): boolean {
    return this.#incoming.header(name.toLowerCase()) !== undefined;
  }

  /** Names in lower case with their values. */
  entries(): IterableIterator<readonly [string, string]> {
    return this.#incoming.headers().values();
  }

  /** The same as {@link entries}. */
  [Symbol.iterator](): IterableIterator<readonly [string, string]> {
    return this.entries();
  }
}

/** Hop-by-hop headers, which the server sets (RFC 9110 section 7.6.1; PEP 3333 forbids them to applications). */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
]);

/** Flattens WHATWG headers. Each `set-cookie` keeps its own line. */
export function flatten(headers: Headers): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}
