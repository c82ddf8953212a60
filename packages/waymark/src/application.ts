import { carriesArguments, readBody } from "./application/body.ts";
import { defaultAnswer, type Failure, failureAnswer, faultsError } from "./application/failure.ts";
import { type ApplicationOptions, checkOptions } from "./application/options.ts";
import { loadRoutes } from "./application/start.ts";
import { cutTarget } from "./application/target.ts";
import { CALL, type Controller } from "./controller.ts";
import { type Answer, emptyAnswer, withoutBody } from "./http/answer.ts";
import { Call } from "./http/call.ts";
import { responseAnswer, toAnswer } from "./http/convert.ts";
import { addCors, isPreflight, preflightAnswer } from "./http/cors.ts";
import { HttpError } from "./http/error.ts";
import { flatten } from "./http/headers.ts";
import type { Incoming } from "./http/incoming.ts";
import type { RouteClass, Routes, RouteVerb } from "./routing/model.ts";
import { resolve, splitPath } from "./routing/resolve.ts";
import { fetchAdapter } from "./serve/fetch.ts";
import { type NodeListener, nodeListener } from "./serve/node.ts";
import type { BindResult } from "./signature/binder.ts";
import { BindFaults } from "./signature/faults.ts";

/** Everything that one call needs, besides the request. */
interface Matched {
  readonly route: RouteClass;
  readonly entry: RouteVerb;
  readonly call: Call;
  readonly controller: Controller;
}

/**
 * A set of controllers and what is said of them all. `handle` is the core, in terms of no interface; `listener`
 * and `fetch` serve through `node:http` and WHATWG fetch.
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
      const failure = { incoming, call: undefined, controller: undefined, route: undefined };
      return defaultAnswer(error, failure, this.options);
    }
    return this.handle(incoming);
  }

  #finish(answer: Answer, incoming: Incoming): Answer {
    const { cors } = this.options;
    const open = cors === undefined ? answer : addCors(answer, incoming, cors);
    return incoming.method === "HEAD" ? withoutBody(open) : open;
  }

  /** Order of checks: class, verb, `before()`, arity, body, names and types, method, `after()`. */
  #dispatch(routes: Routes, incoming: Incoming): Answer | Promise<Answer> {
    let matched: Matched | undefined;
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
      const call = new Call(incoming, route.settings, positionals, query);
      const controller = new route.controller(call) as Controller;
      // A constructor of its own need not hand the call on.
      controller[CALL] ??= call;
      matched = { route, entry, call, controller };
      const { hooks } = route;
      if (
        (incoming.hasBody && entry.binder.readsBody) ||
        hooks.before ||
        hooks.after ||
        this.options.before !== undefined ||
        this.options.after !== undefined
      ) {
        return this.#serve(matched);
      }
      const bound = entry.binder.bind({ segments: positionals, query });
      if (bound instanceof Promise) return this.#serve(matched);
      return this.#invoke(matched, bound);
    } catch (error) {
      return this.#fail(error, incoming, matched);
    }
  }

  /** Calls the method. Answers at once where it does. */
  #invoke(matched: Matched, bound: BindResult): Answer | Promise<Answer> {
    if (bound instanceof BindFaults) throw faultsError(bound);
    const { entry, controller } = matched;
    const value = entry.method.apply(controller, bound as never[]);
    return isThenable(value)
      ? this.#await(matched, value)
      : toAnswer(value, matched.call.response, matched.call.incoming);
  }

  async #await(matched: Matched, value: PromiseLike<unknown>): Promise<Answer> {
    try {
      return await toAnswer(await value, matched.call.response, matched.call.incoming);
    } catch (error) {
      return this.#fail(error, matched.call.incoming, matched);
    }
  }

  /** The way of a request that has a body to read or hooks to run. */
  async #serve(matched: Matched): Promise<Answer> {
    try {
      const answer = await this.#answer(matched);
      return await this.#after(matched, answer);
    } catch (error) {
      return this.#fail(error, matched.call.incoming, matched);
    }
  }

  async #answer(matched: Matched): Promise<Answer> {
    const { route, entry, call, controller } = matched;
    try {
      const early =
        (await this.options.before?.(controller)) ??
        (route.hooks.before ? await controller.before() : undefined);
      if (early instanceof Response) return responseAnswer(early, call.response);
      return await this.#bindAndCall(entry, matched);
    } catch (thrown) {
      if (thrown instanceof Response) return responseAnswer(thrown, call.response);
      throw thrown;
    }
  }

  async #bindAndCall({ binder }: RouteVerb, matched: Matched): Promise<Answer> {
    const { route, call } = matched;
    const { positionals, query, incoming } = call;
    if (!binder.readsBody || !incoming.hasBody || !carriesArguments(call, route.body))
      return this.#invoke(matched, await binder.bind({ segments: positionals, query }));
    if (positionals.length > binder.maximum)
      return this.#invoke(matched, await binder.bind({ segments: positionals, query }));
    if (positionals.length < binder.minimum) {
      const missing = binder.missing(positionals.length, query, true);
      if (missing !== undefined) {
        const fault = { in: "path", name: missing, message: "is missing" } as const;
        throw faultsError(new BindFaults(404, [fault]));
      }
    }
    const body = await readBody(call, route.body);
    call.body = body;
    return this.#invoke(matched, await binder.bind({ segments: positionals, query, body }));
  }

  async #after({ route, controller }: Matched, answer: Answer): Promise<Answer> {
    const { after } = this.options;
    if (!route.hooks.after && after === undefined) return answer;
    const first = asResponse(answer);
    let response = first;
    for (const hook of [
      route.hooks.after ? () => controller.after(response) : undefined,
      after && (() => after(response, controller)),
    ]) {
      const replaced = await hook?.();
      if (replaced instanceof Response) response = replaced;
    }
    // The same Response, perhaps with other headers: its body need not go through a stream.
    if (response === first && !response.bodyUsed)
      return { status: response.status, headers: flatten(response.headers), body: answer.body };
    withoutBody(answer);
    return responseAnswer(response);
  }

  #fail(error: unknown, incoming: Incoming, matched: Matched | undefined): Answer | Promise<Answer> {
    if (error instanceof Response) {
      try {
        return responseAnswer(error, matched?.call.response);
      } catch (unsendable) {
        return this.#fail(unsendable, incoming, matched);
      }
    }
    const failure: Failure = {
      incoming,
      call: matched?.call,
      controller: matched?.controller,
      route: matched?.route,
    };
    if (this.options.onError === undefined && matched?.route.hooks.onError !== true)
      return defaultAnswer(error, failure, this.options);
    return failureAnswer(error, failure, this.options);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** A streamed body is not shown to `after()`: the Response stands for its status and headers. */
function asResponse({ status, headers, body }: Answer): Response {
  const shown = typeof body === "string" || body instanceof Uint8Array ? body : null;
  const response = new Response(shown, { status });
  response.headers.delete("content-type");
  for (let at = 0; at < headers.length; at += 2) response.headers.append(headers[at]!, headers[at + 1]!);
  return response;
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
