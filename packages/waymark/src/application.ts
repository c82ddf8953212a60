import { problem, report, unrouted } from "./application/failure.ts";
import { type ApplicationOptions, checkOptions } from "./application/options.ts";
import { perform } from "./application/perform.ts";
import { loadRoutes } from "./application/start.ts";
import { cutTarget } from "./application/target.ts";
import { CALL, type Controller } from "./controller.ts";
import { type Answer, emptyAnswer, withoutBody } from "./http/answer.ts";
import { Call } from "./http/call.ts";
import { addCors, isPreflight, preflightAnswer } from "./http/cors.ts";
import { HttpError } from "./http/error.ts";
import type { Incoming } from "./http/incoming.ts";
import type { RouteClass, Routes } from "./routing/model.ts";
import { resolve, splitPath } from "./routing/resolve.ts";
import { asgiAdapter } from "./serve/asgi/application.ts";
import type { AsgiApplication } from "./serve/asgi/types.ts";
import { fetchAdapter } from "./serve/fetch.ts";
import { type NodeListener, nodeListener } from "./serve/node.ts";
import { wsgiAdapter } from "./serve/wsgi/application.ts";
import type { WsgiApplication } from "./serve/wsgi/types.ts";

/**
 * A set of controllers and what is said of them all. `handle` is the core, in terms of no interface; `listener`,
 * `fetch`, `asgi` and `wsgi` serve through `node:http`, WHATWG fetch, ASGI 3 and PEP 3333.
 */
export class Application {
  readonly options: Readonly<ApplicationOptions>;
  #routes: Routes | undefined = undefined;
  #ready: Promise<Routes> | undefined = undefined;

  constructor(options: ApplicationOptions = {}) {
    checkOptions(options);
    this.options = options;
  }

  /** Loads the controllers and runs `onStart`, once. Rejects with what keeps the application from starting. */
  ready(): Promise<Routes> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  async #start(): Promise<Routes> {
    const routes = await this.load();
    await this.options.onStart?.();
    this.#routes = routes;
    return routes;
  }

  /** Finds and reads the controllers without starting anything. */
  async load(): Promise<Routes> {
    return loadRoutes(this.options);
  }

  /** Runs `onStop`. Whoever serves calls it after the last answer. */
  async stop(): Promise<void> {
    if (this.#ready === undefined) return;
    await this.#ready.catch(() => undefined);
    if (this.#routes !== undefined) await this.options.onStop?.();
    this.#routes = undefined;
    this.#ready = undefined;
  }

  /** A listener for any `node:http` or `node:https` server. */
  readonly listener: NodeListener = nodeListener(this);

  /** Answers a WHATWG request: for Bun, Deno, workers, and tests. */
  readonly fetch = (request: Request): Promise<Response> => fetchAdapter(this, request);

  /** The ASGI 3 callable: `(scope, receive, send)`, for `http` and `lifespan`. */
  readonly asgi: AsgiApplication = asgiAdapter(this);

  /** The WSGI callable of PEP 3333: `(environ, startResponse)`, with promises where Python blocks. */
  readonly wsgi: WsgiApplication = wsgiAdapter(this);

  /** Answers one request. A plain `Answer` where nothing had to be waited for. Never throws, never rejects. */
  handle(incoming: Incoming): Answer | Promise<Answer> {
    const routes = this.#routes;
    if (routes === undefined) return this.#handleFirst(incoming);
    const answer = this.#dispatch(routes, incoming);
    if (this.options.cors === undefined && incoming.method !== "HEAD") return answer;
    return answer instanceof Promise
      ? answer.then((settled) => this.#finish(settled, incoming))
      : this.#finish(answer, incoming);
  }

  async #handleFirst(incoming: Incoming): Promise<Answer> {
    try {
      await this.ready();
    } catch (error) {
      return problem(error, incoming, this.options);
    }
    return this.handle(incoming);
  }

  /** For adapters: tells the log of an error that came when the answer had already begun. */
  report(error: unknown, request: Pick<Incoming, "method" | "target">): void {
    report(error, request, this.options);
  }

  #finish(answer: Answer, incoming: Incoming): Answer {
    const { cors } = this.options;
    const open = cors === undefined ? answer : addCors(answer, incoming, cors);
    return incoming.method === "HEAD" ? withoutBody(open) : open;
  }

  /** Order of checks: class, verb, `before()`, arity, body, names and types, method, `after()`. */
  #dispatch(routes: Routes, incoming: Incoming): Answer | Promise<Answer> {
    try {
      if (incoming.target === "*") return anyAnswer(routes, incoming);
      const { path, query } = cutTarget(incoming.target);
      const target = resolve(routes.roots, splitPath(path));
      if (target === undefined) throw new HttpError(404, `no controller answers to ${path.slice(0, 200)}`);
      const { route, positionals } = target;
      if (this.options.cors !== undefined && isPreflight(incoming))
        return preflightAnswer(incoming, route.allow, this.options.cors);
      const { method } = incoming;
      const entry = route.verbs.get(method) ?? (method === "HEAD" ? route.verbs.get("GET") : undefined);
      if (entry === undefined) return withoutVerb(routes, route, incoming, this.options);
      const call = new Call(incoming, route.settings, positionals, query, entry.binder.readsBody);
      const controller = new route.controller(call) as Controller;
      // A constructor of its own need not hand the call on.
      controller[CALL] ??= call;
      return perform({ route, entry, call, controller }, this.options);
    } catch (error) {
      return unrouted(error, incoming, this.options);
    }
  }
}

/** `OPTIONS *` asks about the server as a whole (RFC 9110 section 9.3.7). */
function anyAnswer(routes: Routes, { method }: Incoming): Answer {
  const allow = [...routes.verbs].join(", ");
  if (method === "OPTIONS") return emptyAnswer(204, ["allow", allow]);
  throw new HttpError(400, 'the request target "*" is for OPTIONS alone');
}

function withoutVerb(
  routes: Routes,
  route: RouteClass,
  { method }: Incoming,
  { knownMethods }: ApplicationOptions,
): Answer {
  if (method === "OPTIONS") return emptyAnswer(204, ["allow", route.allow]);
  if (!routes.verbs.has(method) && knownMethods?.includes(method) !== true)
    throw new HttpError(501, `no controller serves ${method.slice(0, 100)}`);
  throw new HttpError(405, `${route.path} does not serve ${method}`, { headers: { allow: route.allow } });
}
