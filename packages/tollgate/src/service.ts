import type { CounterStore } from "./counters/store.ts";
import { Decider } from "./decision/decide.ts";
import { explainDecision } from "./decision/explain.ts";
import { Answering } from "./doors/answering.ts";
import { debugPages } from "./doors/debug-pages.ts";
import { type GrpcDoor, openGrpcDoor } from "./doors/grpc-door.ts";
import { type HttpDoor, openHttpDoor } from "./doors/http-listener.ts";
import { httpPages } from "./doors/http-pages.ts";
import { COMPONENTS, createHealth, type Health } from "./observe/health.ts";
import { createLogger, type Logger } from "./observe/log.ts";
import { createStatistics, type Registry } from "./observe/registry.ts";
import type { RunningSinks } from "./observe/sinks/start.ts";
import { ActiveRules } from "./service/active-rules.ts";
import { decisionOptions } from "./service/mapping.ts";
import { openSinks } from "./service/sinks.ts";
import { openSource } from "./service/sources.ts";
import { openStore } from "./service/stores.ts";
import type { LoadedSettings } from "./settings/load.ts";
import type { Settings } from "./settings/settings.ts";
import type { RuleSource } from "./sources/source.ts";

/** What was bound: `0.0.0.0:8080`, or a socket's path. Empty until that door is open. */
export interface Addresses {
  readonly http: string;
  readonly grpc: string;
  readonly debug: string;
}

/**
 * The whole service, built out of its settings. Start order: statistics and health, the store, the debug port, the
 * source of rules; then, once the first rules are loaded (or at once with `FORCE_START_WITHOUT_INITIAL_CONFIG`),
 * gRPC, and HTTP last: who can ask `/healthcheck` finds every door open.
 */
export class Service {
  readonly log: Logger;
  readonly #settings: Settings;
  readonly #statistics: Registry;
  readonly #health: Health;
  readonly #rules: ActiveRules;
  readonly #source: RuleSource;
  readonly #store: CounterStore;
  readonly #answering: Answering;
  readonly #opened = Promise.withResolvers<void>();
  readonly #addresses = { http: "", grpc: "", debug: "" };
  #sinks: RunningSinks | undefined;
  #debug: HttpDoor | undefined;
  #http: HttpDoor | undefined;
  #grpc: GrpcDoor | undefined;
  #stopping: Promise<void> | undefined;

  private constructor(
    settings: Settings,
    log: Logger,
    statistics: Registry,
    health: Health,
    store: CounterStore,
  ) {
    this.#settings = settings;
    this.log = log;
    this.#statistics = statistics;
    this.#health = health;
    this.#store = store;
    const { healthNeedsConfig } = settings.config;
    this.#rules = new ActiveRules(
      log,
      statistics,
      healthNeedsConfig ? health.component(COMPONENTS.config, "no configuration is loaded") : undefined,
    );
    this.#source = openSource(settings, this.#rules, log);
    const decider = new Decider(decisionOptions(settings), statistics, store);
    const ruleSet = () => this.#rules.current;
    this.#answering = new Answering({ decider, store: store, ruleSet, statistics, log });
  }

  /** Builds and starts the service. Rejects where a door or the store cannot be had. */
  static async start({ settings, warnings, infos }: LoadedSettings): Promise<Service> {
    const log = createLogger({ level: settings.logs.level, format: settings.logs.format });
    for (const line of warnings) log.warn(line);
    for (const line of infos) log.info(line);
    const statistics = createStatistics({
      tags: Object.fromEntries(settings.stats.extraTags),
      maxDynamicKeys: settings.stats.maxDynamicKeys,
      kvstoreName: settings.kvstore?.statisticsName ?? "kvstore",
      objcacheName: settings.objcache?.statisticsName ?? "objcache",
    });
    const health = createHealth(log);
    const store = await openStore(settings, { statistics, health, log });
    const service = new Service(settings, log, statistics, health, store);
    try {
      await service.#start();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  get addresses(): Addresses {
    return this.#addresses;
  }

  /** Resolves when every door is open; rejects where one cannot be. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** The longest that {@link stop} may take, in milliseconds. */
  get shutdownTimeout(): number {
    return this.#settings.lifecycle.shutdownTimeout;
  }

  /** Loads the rules anew, now. */
  reload(): void {
    this.log.info("reloading the configuration");
    this.#source.reload();
  }

  /**
   * Ends the service: health turns bad at once, `DRAIN_DELAY` passes where it is asked for, doors close and finish
   * what they have begun, statistics and counters go out. Never longer than `SHUTDOWN_TIMEOUT`.
   */
  stop(options: { readonly delay?: boolean } = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.delay ?? false);
    return this.#stopping;
  }

  async #start(): Promise<void> {
    const { debug, config } = this.#settings;
    // Nobody may be waiting for the doors when they fail to open.
    this.#opened.promise.catch(() => undefined);
    this.#sinks = await openSinks(this.#settings, this.#statistics, this.log);
    if (this.#sinks?.pullAddress !== undefined) {
      this.log.warn(`Listening for metrics on '${this.#sinks.pullAddress}'`);
    }
    this.#debug = await openHttpDoor({
      name: "debug",
      host: debug.host,
      port: debug.port,
      log: this.log,
      controllers: debugPages({
        ruleSet: () => this.#rules.current,
        registry: this.#statistics,
        log: this.log,
        answering: this.#answering,
        explain: (request) =>
          explainDecision(
            request,
            this.#rules.current,
            this.#store,
            decisionOptions(this.#settings),
            Date.now(),
          ),
      }),
    });
    this.#addresses.debug = this.#debug.address;
    this.log.warn(`Listening for debug on '${this.#debug.address}'`);
    this.#source.start();
    if (config.forceStart) await this.#openDoors();
    else {
      this.log.info("waiting for the first configuration");
      void this.#rules.first.then(() => this.#openDoors());
    }
  }

  async #openDoors(): Promise<void> {
    if (this.#stopping !== undefined) return;
    try {
      const { grpc, http } = this.#settings;
      this.#grpc = await openGrpcDoor({
        where: grpc.uds === undefined ? { host: grpc.host, port: grpc.port } : { path: grpc.uds },
        tls: undefined,
        maxConnectionAge: grpc.maxConnectionAge,
        maxConnectionAgeGrace: grpc.maxConnectionAgeGrace,
        answering: this.#answering,
        health: this.#health,
        statistics: this.#statistics,
        log: this.log,
      });
      this.#addresses.grpc = this.#grpc.address;
      this.log.warn(`Listening for gRPC on '${this.#grpc.address}'`);
      this.#http = await openHttpDoor({
        name: "HTTP",
        host: http.host,
        port: http.port,
        log: this.log,
        controllers: httpPages(this.#answering, this.#health),
      });
      this.#addresses.http = this.#http.address;
      this.log.warn(`Listening for HTTP on '${this.#http.address}'`);
      this.#opened.resolve();
    } catch (error) {
      this.#opened.reject(error);
    }
  }

  async #stop(delay: boolean): Promise<void> {
    const { drainDelay, shutdownTimeout } = this.#settings.lifecycle;
    const deadline = performance.now() + shutdownTimeout;
    const left = () => Math.max(0, deadline - performance.now());
    this.#health.terminate();
    if (delay && drainDelay > 0) await pause(Math.min(drainDelay, left()));
    await this.#source.stop();
    await Promise.allSettled([this.#http?.close(left()), this.#grpc?.close(left())]);
    await settledWithin(this.#store.close(), left());
    await this.#sinks?.stop(left());
    await this.#debug?.close(0);
    await this.log.flush(Math.min(1000, Math.max(100, left())));
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function settledWithin(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
