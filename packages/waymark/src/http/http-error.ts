import type { Answer } from "./answer.ts";
import { reasonOf } from "./status.ts";
import { byteLength } from "./text.ts";

/** One fault of a request: its place, its name (`point.x`), and what is expected. */
export interface RequestFault {
  /** Where the value was. */
  in: "path" | "query" | "body";
  /** The name of the argument, with its path: `point.x`. */
  name: string;
  /** The expected value, or another reason. */
  message: string;
}

/** Options of an `HttpError` besides status and detail. Other keys become members of the document. */
export interface HttpErrorOptions {
  /** A URI that identifies the kind of problem. Default `about:blank`. */
  type?: string;
  /** Default: the reason phrase of the status. */
  title?: string;
  /** Further headers of the answer: `{ "retry-after": "5" }`. */
  headers?: Readonly<Record<string, string>>;
  /** All faults of the request, if there are several. */
  errors?: readonly RequestFault[];
  /** Logged, never sent to the client. */
  cause?: unknown;
  [member: string]: unknown;
}

const HTTP_ERROR = Symbol.for("@tollway/waymark.HttpError");
const RESERVED = new Set(["type", "title", "status", "detail", "headers", "errors", "cause"]);

/**
 * An error that answers with its status and RFC 9457 problem details.
 * @example
 * ```ts
 * import { HttpError } from "@tollway/waymark";
 *
 * throw new HttpError(409, "the book has changed", { headers: { "retry-after": "1" }, version: 2 });
 * ```
 */
export class HttpError extends Error {
  /** Always `ERR_HTTP`. */
  readonly code = "ERR_HTTP";
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** The fault of this request. The client sees it. */
  readonly detail: string | undefined;
  /** The options that the error was created with. */
  readonly options: HttpErrorOptions;

  constructor(status: number, detail?: string, options: HttpErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`an HttpError must have a status from 400 to 599, not ${status}`);
    }
    super(detail ?? reasonOf(status) ?? `status ${status}`);
    if (options.cause !== undefined) this.cause = options.cause;
    this.name = "HttpError";
    this.status = status;
    this.detail = detail;
    this.options = options;
  }

  /** True for an `HttpError` of any copy of this package. */
  static is(value: unknown): value is HttpError {
    return typeof value === "object" && value !== null && HTTP_ERROR in value;
  }
}
Object.defineProperty(HttpError.prototype, HTTP_ERROR, { value: true });

type Reserved = "type" | "title" | "status" | "detail" | "headers" | "errors" | "cause";

/**
 * The result of {@link problem}: an `HttpError` whose status and members are part of the method's type, so that the OpenAPI
 * document and the client know them.
 */
export interface Problem<Status extends number = number, Members extends object = Record<never, never>>
  extends HttpError {
  /** The HTTP status, as a literal type. */
  readonly status: Status;
  /** The members of the document besides those of RFC 9457. */
  readonly members: Members;
}

/**
 * A problem that a method returns instead of throwing it.
 * @param status 400 to 599
 * @param detail what is wrong with this request; the client sees it
 * @param options members of the document besides those of RFC 9457, and the options of an `HttpError`
 * @throws {RangeError} for another status
 * @example
 * ```ts
 * import { Controller, type Problem, problem } from "@tollway/waymark";
 *
 * interface Book { id: number; title: string }
 *
 * export class Books extends Controller {
 *   GET(id: number): Book | Problem<404, { code: string }> {
 *     return id === 1 ? { id, title: "Emma" } : problem(404, `there is no book ${id}`, { code: "NO_BOOK" });
 *   }
 * }
 * ```
 */
export function problem<
  const Status extends number,
  const Options extends HttpErrorOptions = Record<never, never>,
>(
  status: Status,
  detail?: string,
  options?: Options,
): Problem<
  Status,
  { -readonly [Key in keyof Options as Key extends Reserved ? never : Key]: Writable<Options[Key]> }
> {
  const members = Object.entries(options ?? {}).filter(([name]) => !RESERVED.has(name));
  const error = new HttpError(status, detail, options);
  return Object.assign(error, { members: Object.fromEntries(members) }) as never;
}

/** A `const` type parameter keeps literals, and makes lists readonly, which no declared list accepts. */
type Writable<T> = T extends readonly (infer Item)[] ? Writable<Item>[] : T;

/** The members of the problem details document (RFC 9457 section 3), in order. */
function problemDetails(error: HttpError): Record<string, unknown> {
  const { options } = error;
  const document: Record<string, unknown> = {
    type: options.type ?? "about:blank",
    title: options.title ?? reasonOf(error.status) ?? "Error",
    status: error.status,
  };
  if (error.detail !== undefined) document.detail = error.detail;
  if (options.errors !== undefined) document.errors = options.errors;
  for (const [name, value] of Object.entries(options)) {
    if (!RESERVED.has(name)) document[name] = value;
  }
  return document;
}

export function problemAnswer(error: HttpError): Answer {
  let text: string;
  try {
    text = JSON.stringify(problemDetails(error), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
  } catch {
    // A member that JSON cannot represent must not turn a 4xx into a 500.
    text = JSON.stringify(problemDetails(new HttpError(error.status)));
  }
  const headers = ["content-type", "application/problem+json", "content-length", String(byteLength(text))];
  for (const [name, value] of Object.entries(error.options.headers ?? {})) {
    headers.push(name.toLowerCase(), String(value));
  }
  return { status: error.status, headers, body: text };
}
