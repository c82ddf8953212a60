import { CALL, type Controller } from "../controller/controller.ts";
import { Exchange } from "../controller/exchange.ts";
import { type Answer, withoutBody } from "../http/answer.ts";
import { Call } from "../http/call.ts";
import { checkHost } from "../http/check-host.ts";
import { addCors } from "../http/cors.ts";
import { EventStreams } from "../http/event-streams.ts";
import { HttpError } from "../http/http-error.ts";
import type { Incoming } from "../http/incoming.ts";
import { cutTarget } from "../http/target.ts";
import { addVary } from "../http/vary.ts";
import type { Manifest } from "../routing/manifest.ts";
import { resolve, splitPath } from "../routing/resolve-path.ts";
import type { Routes } from "../routing/routes.ts";
import { fetchAdapter } from "../serve/fetch-adapter.ts";
import { asteriskAnswer } from "./asterisk.ts";
import { problem, report, unrouted } from "./failure.ts";
import { loadRoutes } from "./load-routes.ts";
import { noController, withoutVerb } from "./missing.ts";
import { type Observed, type Observers, observe, observersOf } from "./observe.ts";
import { type ApplicationOptions, checkOptions, partsOf } from "./options.ts";
import { perform } from "./perform.ts";
import type { CompilerAsks, Platform } from "./platform.ts";
import { answerPreflight } from "./preflight.ts";
import { runOnDrain, runOnStop } from "./stop-hooks.ts";
import { Versions } from "./versions.ts";
import { webPlatform } from "./web-platform.ts";

/**
 * A set of controllers with their options. `handle` answers a request of any interface. `fetch` adapts it to WHATWG
 * fetch. This class runs wherever there are web interfaces, and imports no module of Node.
 * @example
 * ```ts
 * import { Application, Controller } from "@tollway/waymark";
 *
 * class Health extends Controller {
 *   GET() { return "well"; }
 * }
 *
 * const application = new Application({ controllers: { Health } });
 * console.log(await (await application.fetch(new Request("http://localhost/health"))).json());
 * ```
 */
export class Application {
  /** The options, of which `startFrom` replaces the prefix by its manifest. */
  options: Readonly<ApplicationOptions>;
  readonly #platform: Platform;
  readonly #events = new EventStreams();
  /** Undefined if no option observes requests. */
  readonly #observers: Observers | undefined;
  readonly #versions: Versions | undefined;
  #routes: Routes | undefined = undefined;
  #ready: Promise<Routes> | undefined = undefined;
  /** Resolves when the last stop is complete. Undefined unless the application is stopping or has stopped. */
  #stopped: Promise<void> | undefined = undefined;

  /** @param platform is internal: the entry for Node passes what Node adds. */
  constructor(options: ApplicationOptions = {}, platform: Platform = webPlatform) {
    checkOptions(options);
    this.options = options;
    this.#platform = platform;
    this.#versions = options.versions === undefined ? undefined : new Versions(options.versions);
    this.#observers = observersOf(partsOf(options));
  }

  /**
   * Makes the application start from a manifest instead of the folders that its options name. What `waymark build`
   * writes calls it, before the start.
   */
  startFrom(manifest: Manifest): this {
    const { controllerPrefix: _, controller_prefix: __, directory: ___, ...options } = this.options;
    this.options = options.manifest === undefined ? { ...options, manifest } : options;
    return this;
  }

  /**
   * Loads the controllers and runs `onStart`, once. Rejects if the application cannot start. After that, and after
   * `stop()`, it starts the application again.
   */
  ready(): Promise<Routes> {
    if (this.#ready !== undefined) return this.#ready;
    const starting = this.#start();
    this.#ready = starting;
    // Nobody restarts a worker or a Lambda environment that cannot start: the next request tries again.
    starting.catch(() => {
      if (this.#ready === starting) this.#ready = undefined;
    });
    return starting;
  }

  async #start(): Promise<Routes> {
    const last = this.#stopped;
    await last?.catch(() => undefined);
    // `stop()` may have been called again in the meantime.
    if (this.#stopped === last) {
      this.#stopped = undefined;
      this.#events.reopen();
    }
    const routes = await this.load();
    await this.options.onStart?.();
    this.#routes = routes;
    return routes;
  }

  /**
   * Finds and reads the controllers without starting anything.
   * @internal
   */
  async load(asks?: CompilerAsks): Promise<Routes> {
    return loadRoutes(this.options, this.#platform, this.#events, asks);
  }

  /**
   * Serves these routes from now on, if the application has started.
   * @internal
   */
  replace(routes: Routes): void {
    if (this.#routes === undefined) return;
    this.#routes = routes;
    this.#ready = Promise.resolve(routes);
  }

  /** Ends the open event streams, which otherwise never end. A server calls it before it waits for its answers. */
  closeEventStreams(): void {
    this.#events.close();
  }

  /**
   * Runs `onDrain`. A server calls it before it refuses connections and waits for its answers. Undefined if there is no
   * such hook. Never rejects.
   */
  drain(): Promise<void> | undefined {
    return this.options.onDrain === undefined ? undefined : runOnDrain(this.options);
  }

  /** Runs `onStop`. A server calls it after its last answer. Later requests get 503. */
  stop(): Promise<void> {
    if (this.#stopped !== undefined && this.#ready === undefined) return this.#stopped;
    const ready = this.#ready;
    this.#ready = undefined;
    this.#routes = undefined;
    this.#stopped = this.#stop(ready);
    return this.#stopped;
  }

  async #stop(ready: Promise<Routes> | undefined): Promise<void> {
    this.#events.close();
    const started = await ready?.then(
      () => true,
      () => false,
    );
    this.#routes = undefined;
    if (started === true) await runOnStop(this.options);
  }

  /** Answers a WHATWG request, for Bun, Deno, workers and tests. */
  readonly fetch = (request: Request): Promise<Response> => fetchAdapter(this, request);

  /** Answers one request. Returns a plain `Answer` if no step is asynchronous. Never throws, never rejects. */
  handle(incoming: Incoming): Answer | Promise<Answer> {
    if (this.#observers === undefined) return this.#handle(incoming, undefined);
    return observe(this.#observers, new Exchange(incoming, this.options.trustProxy ?? false), this.#observed);
  }

  #handle(incoming: Incoming, exchange: Exchange | undefined): Answer | Promise<Answer> {
    const routes = this.#routes;
    if (routes === undefined) return this.#handleFirst(incoming, exchange);
    const answer = this.#dispatch(routes, incoming, exchange);
    if (this.options.cors === undefined && this.#versions === undefined && incoming.method !== "HEAD")
      return answer;
    return answer instanceof Promise
      ? answer.then((settled) => this.#finish(settled, incoming, exchange))
      : this.#finish(answer, incoming, exchange);
  }

  async #handleFirst(incoming: Incoming, exchange: Exchange | undefined): Promise<Answer> {
    try {
      // Only `ready()` starts an application again.
      if (this.#stopped !== undefined && this.#ready === undefined)
        throw new HttpError(503, "the application has been stopped");
      await this.ready();
    } catch (error) {
      if (exchange !== undefined) exchange.error = error;
      return problem(error, incoming, this.options);
    }
    return this.#handle(incoming, exchange);
  }

  /** For adapters: logs an error that occurs after the answer has begun. */
  report(error: unknown, request: Pick<Incoming, "method" | "target">): void {
    report(error, request, this.options);
  }

  #finish(answer: Answer, incoming: Incoming, exchange: Exchange | undefined): Answer {
    const { cors } = this.options;
    if (this.#versions !== undefined) addVary(answer.headers, "Accept");
    const open = cors === undefined ? answer : addCors(answer, incoming, cors);
    // The hooks of an exchange see the body of an answer to HEAD, such as for an ETag.
    return incoming.method === "HEAD" && exchange === undefined ? withoutBody(open) : open;
  }

  readonly #observed: Observed = {
    answer: (exchange) => this.#handle(exchange.incoming, exchange),
    failed: (error, incoming) => unrouted(error, incoming, this.options),
    report: (error, incoming) => this.report(error, incoming),
  };

  /** Order of checks: class, verb, `before()`, arity, body, names and types, method, `after()`. */
  #dispatch(routes: Routes, incoming: Incoming, exchange: Exchange | undefined): Answer | Promise<Answer> {
    try {
      checkHost(incoming);
      if (incoming.target === "*") return asteriskAnswer(routes, incoming);
      const { path, query } = cutTarget(incoming.target);
      const segments = splitPath(path);
      const versions = this.#versions;
      const { cors } = this.options;
      if (cors !== undefined) {
        const answer = answerPreflight({ routes, incoming, segments, versions, exchange }, cors);
        if (answer !== undefined) return answer;
      }
      const selected = versions === undefined ? segments : versions.select(incoming, segments);
      const target = resolve(routes.roots, selected);
      if (target === undefined)
        throw noController(routes, path, selected === segments ? undefined : selected[0]);
      const { route, positionals } = target;
      if (exchange !== undefined) exchange.route = route.path;
      const { method } = incoming;
      const entry = route.verbs.get(method) ?? (method === "HEAD" ? route.verbs.get("GET") : undefined);
      if (entry === undefined) return withoutVerb(routes, target, incoming, this.options);
      const call = new Call(incoming, route.settings, positionals, query, entry.binder.readsBody);
      const controller = new route.controller(call) as Controller;
      // A controller's own constructor may not pass the call to `super()`.
      controller[CALL] ??= call;
      if (exchange !== undefined) exchange.controller = controller;
      return perform({ routes, route, entry, call, controller, exchange }, this.options);
    } catch (error) {
      if (exchange !== undefined) exchange.error = error;
      return unrouted(error, incoming, this.options);
    }
  }
}
