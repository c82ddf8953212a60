import type { Table } from "./table.ts";

/** How often and when to send a request again. */
export interface RetryOptions {
  /** Largest number of further attempts. */
  readonly limit: number;
  /** Also repeats POST and PATCH, which can act twice. Default false. */
  readonly unsafe?: boolean;
  /** Longest wait before an attempt, in milliseconds. A longer `Retry-After` ends the attempts. Default 10,000. */
  readonly longest?: number;
}

/** Options of a single call. */
export interface CallOptions {
  /** Further headers of this call. */
  readonly headers?: NonNullable<RequestInit["headers"]>;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** A body for methods that read it themselves, instead of the keyword arguments. */
  readonly body?: NonNullable<RequestInit["body"]>;
  /** Asks for server-sent events instead of lines of JSON. */
  readonly events?: boolean;
  /** Repeats requests of safe and idempotent methods after a failed connection, 429, 502, 503 and 504. Default 0. */
  readonly retries?: number | RetryOptions;
  /** Any other member of `RequestInit`: `credentials`, `cache`, `redirect`. */
  readonly request?: Omit<RequestInit, "method" | "headers" | "signal" | "body">;
}

/** An object that answers requests: an application, its `test`, or a service binding of a worker. */
export interface Fetcher {
  /** Answers one request. */
  fetch(request: Request): Promise<Response>;
}

/** Options of a client. All are optional. */
export interface ClientOptions extends Omit<CallOptions, "headers" | "body" | "events"> {
  /** Headers of every request, or a function that returns them for each request. */
  readonly headers?:
    | NonNullable<RequestInit["headers"]>
    | (() => NonNullable<RequestInit["headers"]> | Promise<NonNullable<RequestInit["headers"]>>);
  /** Sends the requests. Default: the global `fetch`. `application.fetch` needs no server. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** The output of `waymark types --table=FILE`. */
  readonly table?: Table;
  /** Makes a `Date` of each date in the answers. Needs the table. Default false. */
  readonly revive?: boolean;
}
