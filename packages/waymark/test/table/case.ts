/** The interfaces that the table runs under. */
export type InterfaceName = "node" | "fetch" | "wsgi" | "asgi" | "bun" | "deno" | "workerd" | "lambda";

/** One request and its expected answer, for every interface. */
export interface Case {
  readonly name: string;
  /** Default GET. */
  readonly method?: string;
  /** The request target, byte for byte. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Send the body in chunks of this many bytes, without its length. */
  readonly chunked?: number;
  readonly status: number;
  /** Headers with their expected values. Null for a header that must be absent. */
  readonly answers?: Readonly<Record<string, string | RegExp | null>>;
  /**
   * A value is compared as JSON, a string byte for byte, and a pattern is searched for. If absent, the body is not
   * checked.
   */
  readonly json?: unknown;
  readonly text?: string | RegExp;
  /** `errors` of the problem details: `query.n`, in any order. */
  readonly faults?: readonly string[];
  /** The interfaces that cannot carry this request, each with the reason. */
  readonly except?: Partial<Readonly<Record<InterfaceName, string>>>;
}

export interface CaseRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | undefined;
  readonly chunked: number | undefined;
}

export interface CaseAnswer {
  readonly status: number;
  /** Names in lower case, in the order of the answer. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** Sends a request through one interface. */
export type Driver = (request: CaseRequest) => Promise<CaseAnswer>;

export function requestOf({ method = "GET", target, headers = {}, body, chunked }: Case): CaseRequest {
  return {
    method,
    target,
    headers: Object.entries(headers),
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
    chunked,
  };
}
