import { type Call, type Keywords, ResponseState } from "../http/call.ts";
import type { RequestHeaders } from "../http/headers.ts";
import { type CookieOptions, deleteCookieHeader, setCookieHeader } from "../http/set-cookie.ts";
import { uriReference } from "../http/uri.ts";

/** Registered symbols, so that controllers of another copy of this package work. */
export const CONTROLLER: unique symbol = Symbol.for("@tollway/waymark.Controller");
export const CALL: unique symbol = Symbol.for("@tollway/waymark.call");

/**
 * The base class of all controllers. A subclass has a method for each HTTP method that it serves (`GET`, `POST`,
 * ...). The signature of a method declares its arguments. An instance serves one request.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 *
 * // Serves `GET /books/7`, `GET /books?author=Austen` and `POST /books`.
 * export class Books extends Controller {
 *   GET(id?: number, { author }: { author?: string } = {}) { return { id, author }; }
 *   POST({ title }: { title: string }) {
 *     this.response.status = 201;
 *     return { id: 1, title };
 *   }
 * }
 * ```
 */
export class Controller {
  /** @internal */
  static readonly [CONTROLLER] = true;

  /** True removes this class, but not its subclasses, from the routes. */
  declare static private?: boolean;
  /** Largest body in bytes for this class. Default: the application's limit. */
  declare static bodyLimit?: number;
  /** Treatment of keyword arguments that a method does not declare. Default: the application's option. */
  declare static unknownKeywords?: "reject" | "ignore";
  /** Reads every body as JSON, whatever its content type. */
  declare static alwaysJson?: boolean;
  /** Leaves every body unread on `this.request`, whatever its content type. The arguments are in path and query. */
  declare static rawBody?: boolean;
  /**
   * The guard of the verbs. One guard for all of them, such as an authenticator of the kit, or one for each verb of the
   * class: `{ GET: "public", POST: users }`.
   */
  declare static guard?: Guards;
  /** Standard Schemas that replace types: `{ GET: { id: z.coerce.number() } }`. */
  declare static schema?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  /** @internal */
  [CALL]: Call;

  constructor(call?: unknown) {
    // Passed by the framework, so that field initialisers of subclasses can already use the request.
    this[CALL] = call as Call;
  }

  /** Runs before the arguments are read. If it returns or throws a `Response`, that is the answer. */
  before(): unknown {
    return undefined;
  }

  /** Runs on the answer of the method. May change it or return another. */
  after(_response: Response): unknown {
    return undefined;
  }

  /** Runs on every thrown error. May return a `Response` to send instead of the problem details. */
  onError(_error: unknown): unknown {
    return undefined;
  }

  /** The method that the client sent: `HEAD` if `GET` answers a HEAD request. */
  get method(): string {
    return this[CALL].incoming.method;
  }

  /** The headers of the request. Names are not case-sensitive. */
  get headers(): RequestHeaders {
    return this[CALL].headers;
  }

  /** Cookies by name. If a name repeats, the first one counts. */
  get cookies(): Readonly<Record<string, string>> {
    return this[CALL].cookies;
  }

  /** Adds a cookie to the answer: `this.setCookie("theme", "dark")`. */
  setCookie(name: string, value: string, options: CookieOptions = {}): void {
    this.response.headers.append("set-cookie", setCookieHeader(name, value, options, this[CALL].isSecure));
  }

  /** Lets the browser forget a cookie. A cookie with a path or a domain of its own needs both here. */
  deleteCookie(name: string, options: Pick<CookieOptions, "path" | "domain" | "partitioned"> = {}): void {
    this.response.headers.append("set-cookie", deleteCookieHeader(name, options, this[CALL].isSecure));
  }

  /** Aborts when the client goes away. For an event stream, also when the server stops. */
  get signal(): AbortSignal {
    return this[CALL].signal;
  }

  /** The path segments after module and class, percent-decoded. */
  get positionals(): readonly string[] {
    return this[CALL].positionals;
  }

  /** The keyword arguments as received, before conversion. */
  get keywords(): Keywords {
    return this[CALL].keywords;
  }

  /** Status and headers of the answer. */
  get response(): ResponseState {
    const call = this[CALL];
    call.response ??= new ResponseState();
    return call.response;
  }

  /**
   * The request as a WHATWG `Request`, created on first access. Its body is available even after the arguments were
   * read.
   */
  get request(): Request {
    return this[CALL].request;
  }

  /**
   * The body's bytes, whatever its content type. Throws a 413 `HttpError` beyond the class's `bodyLimit`. For methods
   * without arguments.
   */
  async bytes(): Promise<Uint8Array> {
    return this[CALL].read();
  }

  /** The client's address. With `trustProxy`, the address that a trusted proxy reports. */
  get remoteAddress(): string | undefined {
    return this[CALL].remoteAddress;
  }

  /**
   * A redirect to return. With 303 the client sends GET to the location, whatever this method was. Characters that a
   * URI does not allow are percent-encoded.
   */
  redirect(location: string | URL, status: 301 | 302 | 303 | 307 | 308 = 303): Response {
    return new Response(null, { status, headers: { location: uriReference(String(location)) } });
  }
}

/** A security scheme of OpenAPI, as plain data. */
export type SecurityScheme = Readonly<Record<string, string>>;

/**
 * Decides whether a request may continue, before anything but its path and its headers is read. To refuse it, a guard
 * throws, or returns a `Response` or an error. The authenticators of the kit are guards.
 */
export interface Guard {
  (controller: Controller): unknown;
  /** The credentials that it asks for. The OpenAPI document contains them. */
  readonly securityScheme?: SecurityScheme;
  /** Whether a request without credentials may continue. */
  readonly isOptional?: boolean;
  /** The statuses of its refusals, for the OpenAPI document. Default: 401 if it asks for credentials. */
  readonly statuses?: readonly number[];
}

/** One guard for all verbs of a class, or one for each of them. */
export type Guards = Guard | Readonly<Record<string, Guard | "public">>;

/** A controller class. */
export type ControllerClass = (new (call?: unknown) => Controller) & typeof Controller;

export function isController(value: unknown): value is ControllerClass {
  return typeof value === "function" && CONTROLLER in value;
}

/** True for the class {@link Controller} itself, in any copy of the package. */
export function isControllerBase(value: object): boolean {
  return Object.hasOwn(value, CONTROLLER);
}
