import { placeArguments } from "./place-arguments.ts";
import { ProblemError, problemOf } from "./problem-error.ts";
import { readAnswer, readEvents } from "./read-answer.ts";
import { carryKeywords } from "./request-body.ts";
import { send } from "./send.ts";
import type { Client } from "./types/api.ts";
import type { CallOptions, ClientOptions, Fetcher } from "./types/options.ts";
import type { MethodEntry, RouteTable, Table } from "./types/table.ts";

/** An HTTP method in capitals. Any other property is a path segment. */
const VERB = /^[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*$/;

/**
 * A client with the types of the server's controllers: `client<Api>("https://...")`. `await api.books.GET(1)` is
 * `GET /books/1`. In tests, `client<Api>(application.test)` calls an application without a server.
 * @example
 * ```ts
 * import { Controller } from "@tollway/waymark";
 * import { client } from "@tollway/waymark/client";
 *
 * // `waymark types` writes this type.
 * interface Api { readonly books: { readonly "": { readonly Default: typeof Books } } }
 * class Books extends Controller {
 *   GET(id: number) { return { id, title: "Emma" }; }
 * }
 *
 * const api = client<Api>("https://api.example", { retries: 2 });
 * const { title } = await api.books.GET(1);
 * console.log(title);
 * ```
 */
export function client<Api>(
  server: string | URL | Fetcher,
  options: ClientOptions & { readonly revive: true; readonly table: Table },
): Client<Api, true>;
export function client<Api>(
  server: string | URL | Fetcher,
  options?: ClientOptions & { readonly revive?: false },
): Client<Api>;
export function client(server: string | URL | Fetcher, given: ClientOptions = {}): unknown {
  const options = typeof server === "object" && "fetch" in server ? optionsFor(server, given) : given;
  const base = options === given ? String(server).replace(/\/+$/, "") : "http://localhost";
  if (/[?#]/.test(base))
    throw new TypeError(`client("${base}"): the address must have no query and no fragment`);
  if (options.table !== undefined && options.table.version !== 1)
    throw new TypeError('the table comes from another version of Waymark: run "waymark types" again');
  if (options.revive === true && options.table === undefined)
    throw new TypeError(
      'revive needs the table of "waymark types --table=FILE": client(url, { table, revive: true })',
    );
  return node(base, "", options.table?.routes, options);
}

function optionsFor(server: Fetcher, options: ClientOptions): ClientOptions {
  if (options.fetch !== undefined)
    throw new TypeError("client(): either the first argument or the option fetch sends the requests");
  return { ...options, fetch: (request) => server.fetch(request) };
}

function node(base: string, path: string, routes: RouteTable | undefined, options: ClientOptions): object {
  return new Proxy(Object.freeze(Object.create(null)), {
    get(_target, name) {
      // `await api.books` must not call a method of the server.
      if (typeof name !== "string" || name === "then") return undefined;
      const inner = routes !== undefined && Object.hasOwn(routes, name) ? routes[name] : undefined;
      if (!VERB.test(name))
        return node(
          base,
          `${path}/${encodeURIComponent(name.replaceAll("_", "-"))}`,
          inner as RouteTable,
          options,
        );
      return callOf({ base, path, verb: name, entry: inner as MethodEntry | undefined, options, own: {} });
    },
  });
}

/** One method of the server, and the options of its calls. */
interface Target {
  readonly base: string;
  readonly path: string;
  readonly verb: string;
  readonly entry: MethodEntry | undefined;
  readonly options: ClientOptions;
  readonly own: CallOptions;
}

function callOf(target: Target): object {
  const { entry, options, verb, path } = target;
  const reading = {
    call: `${verb} ${path || "/"}`,
    entry,
    table: options.table,
    revive: options.revive === true,
  };
  const response = async (...args: unknown[]) => respond(target, args, reading.call);
  const safe = async (...args: unknown[]) => {
    const answered = await response(...args);
    const { ok, status, headers } = answered;
    const common = { ok, status, headers, response: answered };
    return ok
      ? { ...common, data: await readAnswer(answered, reading) }
      : { ...common, problem: await problemOf(answered) };
  };
  const call = async (...args: unknown[]) => {
    const answered = await response(...args);
    if (!answered.ok) throw new ProblemError(reading.call, await problemOf(answered), answered);
    return readAnswer(answered, reading);
  };
  const events = async (...args: unknown[]) => {
    const answered = await respond({ ...target, own: { ...target.own, events: true } }, args, reading.call);
    if (!answered.ok) throw new ProblemError(reading.call, await problemOf(answered), answered);
    return readEvents(answered, reading);
  };
  const withOptions = (own: CallOptions) => callOf({ ...target, own: { ...target.own, ...own } });
  return Object.assign(call, { safe, response, events, with: withOptions });
}

async function respond(target: Target, args: readonly unknown[], call: string): Promise<Response> {
  const { base, path, verb, entry, options, own } = target;
  const { segments, keywords } = placeArguments(args, entry, call);
  const { query, body, type } = carryKeywords(verb, keywords, own.body !== undefined, call);
  const common = typeof options.headers === "function" ? await options.headers() : options.headers;
  const headers = new Headers(common);
  if (own.events === true) headers.set("accept", "text/event-stream");
  if (type !== undefined) headers.set("content-type", type);
  new Headers(own.headers).forEach((value, name) => {
    headers.set(name, value);
  });
  const signals = [options.signal, own.signal].filter((signal) => signal !== undefined);
  const sent = own.body ?? body;
  const tail = segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  const request = new Request(`${base}${path}${tail}${query}`, {
    ...options.request,
    ...own.request,
    method: verb,
    headers,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    ...(sent !== undefined && { body: sent }),
    // A stream as a body is sent while it is read.
    ...(sent instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
  const retries = sent instanceof ReadableStream ? 0 : (own.retries ?? options.retries);
  return send(request, options.fetch ?? ((each) => fetch(each)), signals.length > 0, retries);
}
