import { type Call, type Keywords, ResponseState } from "../http/call.ts";
import type { RequestHeaders } from "../http/headers.ts";
import { uriReference } from "../http/uri.ts";

/** Registered symbols, so that controllers of another copy of this package are recognised. */
export const CONTROLLER: unique symbol = Symbol.for("@tollway/waymark.Controller");
export const CALL: unique symbol = Symbol.for("@tollway/waymark.call");

/**
 * The base of every controller. A subclass has a method for each HTTP method that it serves (`GET`, `POST`, ...);
 * the method's signature says what it accepts. An instance lives for one request.
 */
export class Controller {
  /** @internal */
  static readonly [CONTROLLER] = true;

  /** True keeps this class, and only this class, off the routes. */
  declare static private?: boolean;
  /** Largest body in bytes that this class reads, instead of the application's limit. */
  declare static bodyLimit?: number;
  /** What becomes of keyword arguments that a method does not name, instead of the application's choice. */
  declare static unknownKeywords?: "reject" | "ignore";
  /** Read every body as JSON, whatever its content type says. */
  declare static alwaysJson?: boolean;
  /** Standard Schemas that stand in for types: `{ GET: { id: z.coerce.number() } }`. */
  declare static schema?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  /** @internal */
  [CALL]: Call;

  constructor(call?: unknown) {
    // Handed over by the framework, so that field initialisers of subclasses can use the request already.
    this[CALL] = call as Call;
  }

  /** Runs before the arguments are read. Returning or throwing a `Response` answers at once. */
  before(): unknown {
    return undefined;
  }

  /** Runs on what the method answered; may change it, or return another. */
  after(_response: Response): unknown {
    return undefined;
  }

  /** Hears of whatever was thrown; may return a `Response` to send instead of the problem details. */
  onError(_error: unknown): unknown {
    return undefined;
  }

  /** As the client sent it: `HEAD` in a `GET` that answers one. */
  get method(): string {
    return this[CALL].incoming.method;
  }

  get headers(): RequestHeaders {
    return this[CALL].headers;
  }

  /** By name; the first of several alike. */
  get cookies(): Readonly<Record<string, string>> {
    return this[CALL].cookies;
  }

  /** Aborts when the client goes away, and for an event stream when the server stops. */
  get signal(): AbortSignal {
    return this[CALL].signal;
  }

  /** The path segments behind module and class, percent-decoded. */
  get positionals(): readonly string[] {
    return this[CALL].positionals;
  }

  /** The keyword arguments as they came, before any type. */
  get keywords(): Keywords {
    return this[CALL].keywords;
  }

  /** Status and headers of the answer to come. */
  get response(): ResponseState {
    const call = this[CALL];
    call.response ??= new ResponseState();
    return call.response;
  }

  /** The request as a WHATWG `Request`, made when first asked for. Its body has the bytes even where they were read. */
  get request(): Request {
    return this[CALL].request;
  }

  /** The body's bytes, whatever its type; a 413 `HttpError` beyond the class's `bodyLimit`. For methods that take no arguments. */
  async bytes(): Promise<Uint8Array> {
    return this[CALL].read();
  }

  /** The client's address; what a trusted proxy says it is, where `trustProxy` is on. */
  get remoteAddress(): string | undefined {
    return this[CALL].remoteAddress;
  }

  /**
   * A redirect to return. 303 makes the client GET the location, whatever this method was. What a URI cannot hold is
   * percent-encoded.
   */
  redirect(location: string | URL, status: 301 | 302 | 303 | 307 | 308 = 303): Response {
    return new Response(null, { status, headers: { location: uriReference(String(location)) } });
  }
}

/** A class that can be routed to. */
export type ControllerClass = (new (call?: unknown) => Controller) & typeof Controller;

export function isController(value: unknown): value is ControllerClass {
  return typeof value === "function" && CONTROLLER in value;
}

/** The class that {@link Controller} itself is, in any copy of the package. */
export function isControllerBase(value: object): boolean {
  return Object.hasOwn(value, CONTROLLER);
}
