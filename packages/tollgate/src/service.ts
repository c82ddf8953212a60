import { LoadLog } from "./dashboard/load-log.ts";
import type { HttpListener } from "./listeners/http-listener.ts";
import type { RateLimitHandler } from "./listeners/rate-limit-handler.ts";
import type { ReservationHandler } from "./listeners/reservation-handler.ts";
import { componentNames } from "./observe/health.ts";
import type { Level, Logger } from "./observe/log.ts";
import type { RunningSinks } from "./observe/sinks/start.ts";
import { ActiveRules } from "./service/active-rules.ts";
import type { AdminPort } from "./service/admin.ts";
import { createRateLimitHandler, createReservationHandler } from "./service/create-handler.ts";
import { type Dashboard, openDashboard } from "./service/dashboard.ts";
import { openDebug } from "./service/debug.ts";
import { openHttp } from "./service/http.ts";
import { openParts, type Parts } from "./service/parts/parts.ts";
import { pause, settledWithin } from "./service/settled.ts";
import { openSinks } from "./service/sinks.ts";
import { openSource } from "./service/sources.ts";
import { storesAnswer } from "./service/store-gate.ts";
import { type GrpcService, openGrpc } from "./service/threads/grpc.ts";
import type { LoadedSettings } from "./settings/load-settings.ts";
import type { Environment } from "./settings/read-values.ts";
import type { RuleSource } from "./sources/source.ts";

/** The bound addresses: `0.0.0.0:8080`, or a socket's path. Empty until the port is open, and if it is off. */
export interface Addresses {
  /** The HTTP port. */
  readonly http: string;
  /** The gRPC port or socket. */
  readonly grpc: string;
  /** The debug port. */
  readonly debug: string;
  /** The port of the admin API. */
  readonly admin: string;
}

/** The service was stopped before its listeners were open. */
export class StoppedError extends Error {
  override readonly name = "StoppedError";
  readonly code = "STOPPED";
}

/** Milliseconds for the last flush of statistics and spans, whose receivers may be down. */
const FLUSH_TIMEOUT = 2000;

/**
 * The whole service, built from its settings. Start order: statistics and health, the store, the debug port, the source
 * of rules. After the first rules are loaded (or at once with `FORCE_START_WITHOUT_INITIAL_CONFIG`) and the store has
 * answered (unless `STORE_REQUIRED_AT_START` is off) gRPC opens, and HTTP last, so that every port is open when
 * `/healthcheck` answers. Without HTTP, gRPC is the last port.
 * @example
 * ```ts
 * import { loadSettings, Service } from "@tollway/tollgate";
 *
 * const environment = { ...process.env, BACKEND_TYPE: "embedded", RUNTIME_ROOT: "limits" };
 * const service = await Service.start(loadSettings(environment), environment);
 * await service.opened;
 * console.log(service.addresses.grpc);
 * await service.stop();
 * ```
 */
export class Service {
  readonly #parts: Parts;
  readonly #rules: ActiveRules;
  readonly #source: RuleSource;
  readonly #handler: RateLimitHandler;
  readonly #reservations: ReservationHandler;
  readonly #opened = Promise.withResolvers<void>();
  readonly #addresses = { http: "", grpc: "", debug: "", admin: "" };
  #sinks: RunningSinks | undefined;
  #failed = false;
  #debug: HttpListener | undefined;
  #admin: AdminPort | undefined;
  #dashboard: Dashboard | undefined;
  readonly #loads = new LoadLog();
  #http: Omit<HttpListener, "replaceCertificates"> | undefined;
  #grpc: GrpcService | undefined;
  #opening: Promise<void> | undefined;
  /** Ends the waits of the start. */
  readonly #starting = new AbortController();
  #stopping: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    const { settings, log, registry, statistics, health, store, invalidations, overrides } = parts;
    this.#rules = new ActiveRules(
      log,
      registry,
      settings.config.healthNeedsConfig
        ? health.component(componentNames.config, "no configuration is loaded")
        : undefined,
      (ruleSet) => {
        invalidations?.invalidateAll();
        this.#grpc?.setRules(ruleSet.compiled);
      },
      this.#loads,
    );
    this.#source = openSource(settings, this.#rules, log);
    const ruleSet = () => this.#rules.current;
    const { observer } = parts.insight;
    const watched = { observer, overrides };
    this.#handler = createRateLimitHandler(settings, store, ruleSet, statistics, log, watched);
    this.#reservations = createReservationHandler(settings, store, ruleSet, statistics, overrides);
    parts.links.setOverrides = async (records) => this.#grpc?.setOverrides(records);
  }

  /**
   * Builds and starts the service. Rejects if the debug port or the store cannot be opened; the other listeners open later.
   * @param environment that the settings were loaded from: the threads load theirs from it
   */
  static async start(loaded: LoadedSettings, environment: Environment): Promise<Service> {
    const service = new Service(await openParts(loaded, environment));
    try {
      await service.#start();
    } catch (error) {
      service.#failed = true;
      await service.stop();
      throw error;
    }
    return service;
  }

  /** The log of the service. */
  get log(): Logger {
    return this.#parts.log;
  }

  /** Changes the level of the log in all threads, as `LOG_LEVEL` does at start. */
  setLogLevel(level: Level): void {
    this.log.setLevel(level);
    this.#grpc?.setLevel(level);
  }

  /** The addresses of the open ports. */
  get addresses(): Addresses {
    return this.#addresses;
  }

  /** Resolves when every listener is open. Rejects if one cannot open, or if the service is stopped before. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** The limit on the duration of {@link stop}, in milliseconds. */
  get shutdownTimeout(): number {
    return this.#parts.settings.lifecycle.shutdownTimeout;
  }

  /** Reloads the rules now. */
  reload(): void {
    this.log.info("reloading the configuration");
    this.#source.reload();
  }

  /**
   * Stops the service within `SHUTDOWN_TIMEOUT`: reports unhealthy, waits for `DRAIN_DELAY` if `delay` is set, closes
   * the listeners after their running calls, and flushes statistics and counters.
   */
  stop(options: { readonly delay?: boolean } = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.delay ?? false);
    return this.#stopping;
  }

  async #start(): Promise<void> {
    const { settings, registry, statistics, backend, overrides, log, insight } = this.#parts;
    // Prevents an unhandled rejection if the listeners fail before a caller reads `opened`.
    this.#opened.promise.catch(() => undefined);
    registry.beforeRead(async () => {
      statistics.refresh();
      await this.#grpc?.collect();
    });
    this.#sinks = await openSinks(settings, registry, log, insight.topKeys);
    if (this.#sinks?.pullAddress !== undefined)
      log.warn(`Listening for metrics on '${this.#sinks.pullAddress}'`);
    const accepts = (authorization: string | null) => this.#admin?.accepts(authorization) ?? false;
    if (settings.debug.dashboard)
      this.#dashboard = openDashboard({
        ...this.#parts,
        loads: this.#loads,
        topKeys: insight.topKeys,
        feed: insight.decisions,
        ruleSet: () => this.#rules.current,
        threads: () => this.#grpc?.threads() ?? [],
        accepts,
      });
    this.#debug = await openDebug({
      settings,
      registry,
      log,
      backend,
      dashboard: this.#dashboard,
      overrides,
      handler: this.#handler,
      ruleSet: () => this.#rules.current,
      topKeys: insight.topKeys,
      accepts,
      setLogLevel: (level) => this.setLogLevel(level),
      otherThreads: async (kind, seconds) => (await this.#grpc?.sample(kind, seconds)) ?? [],
    });
    this.#addresses.debug = this.#debug.address;
    log.warn(`Listening for debug on '${this.#debug.address}'`);
    await this.#openAdmin();
    this.#source.start();
    const isForced = settings.config.forceStart;
    if (!isForced) log.info("waiting for the first configuration");
    void Promise.all([isForced || this.#rules.first, this.#storesAnswer()]).then(([, answered]) => {
      if (answered) this.#opening = this.#openListeners();
    });
  }

  async #openAdmin(): Promise<void> {
    const { settings, shared, bare, log } = this.#parts;
    if (settings.admin === undefined || shared.counterAdmin === undefined) return;
    const { openAdmin } = await import("./service/admin.ts");
    this.#admin = await openAdmin({
      ...this.#parts,
      ...shared,
      admin: settings.admin,
      ruleSet: () => this.#rules.current,
      store: bare,
      counters: shared.counterAdmin,
    });
    this.#addresses.admin = this.#admin.address;
    log.warn(`Listening for admin on '${this.#admin.address}'`);
  }

  /** Never rejects; `opened` does if a required store does not answer in time. */
  async #storesAnswer(): Promise<boolean> {
    const { settings, log, required } = this.#parts;
    try {
      return await storesAnswer(required, {
        log,
        keyPrefix: settings.decision.cacheKeyPrefix,
        maxElapsed: settings.kvstore?.startupMaxElapsed ?? 0,
        signal: this.#starting.signal,
      });
    } catch (error) {
      this.#opened.reject(error);
      return false;
    }
  }

  /** Never rejects; `opened` does. If the service is stopped meanwhile, `stop` closes the ports that are open by then. */
  async #openListeners(): Promise<void> {
    if (this.#stopping !== undefined) return;
    const { settings, log, insight, overrides } = this.#parts;
    try {
      // A store that does not answer yet delays the start by a second at most: it has no counters to decide with either.
      await settledWithin(overrides?.first ?? Promise.resolve(), 1000);
      const handlers = { handler: this.#handler, reservations: this.#reservations };
      const { decisions } = insight;
      this.#grpc = await openGrpc({ ...this.#parts, ...handlers, decisions, rules: this.#rules });
      insight.connect(this.#grpc);
      this.#addresses.grpc = this.#grpc.address;
      log.warn(`Listening for gRPC on '${this.#grpc.address}'`);
      if (this.#stopping !== undefined) return;
      if (settings.http === undefined) log.warn("the HTTP port is off (HTTP_ENABLED=false)");
      else {
        this.#http = await openHttp({ ...this.#parts, ...handlers, settings: settings.http });
        this.#addresses.http = this.#http.address;
        log.warn(`Listening for HTTP on '${this.#http.address}'`);
      }
      this.#opened.resolve();
    } catch (error) {
      this.#failed = true;
      this.#opened.reject(error);
    }
  }

  async #stop(delay: boolean): Promise<void> {
    const { settings, health, log, store, embedded, tracing, shared, insight } = this.#parts;
    const { drainDelay, shutdownTimeout } = settings.lifecycle;
    const deadline = performance.now() + shutdownTimeout;
    const left = () => Math.max(0, deadline - performance.now());
    this.#starting.abort();
    // A service that could not start was never healthy.
    if (!this.#failed) health.terminate();
    this.#http?.drain();
    if (delay && drainDelay > 0) await pause(Math.min(drainDelay, left()));
    await settledWithin(this.#source.stop(), left());
    // A listener that is about to open is closed with the others.
    await settledWithin(this.#opening ?? Promise.resolve(), left());
    this.#opened.reject(new StoppedError("the service was stopped before its listeners were open"));
    await Promise.allSettled([
      this.#http?.close(left()),
      this.#grpc?.close(left()),
      this.#admin?.close(left()),
    ]);
    await settledWithin(shared.close(), left());
    await settledWithin(store.close(), left());
    await settledWithin(embedded?.close() ?? Promise.resolve(), left());
    await tracing.close(Math.min(FLUSH_TIMEOUT, left()));
    await insight.close(Math.min(FLUSH_TIMEOUT, left()));
    await this.#sinks?.stop(Math.min(FLUSH_TIMEOUT, left()));
    this.#dashboard?.stop();
    await this.#debug?.close(0);
    await log.flush(Math.min(1000, Math.max(100, left())));
  }
}
