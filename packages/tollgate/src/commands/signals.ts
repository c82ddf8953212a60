import type { Level } from "../observe/log.ts";
import type { Service } from "../service.ts";

/** Milliseconds; a timer that is set to more rings at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * Listens to signals from now on; `steer` lets them steer a service: SIGTERM ends it after the drain delay, SIGINT at
 * once, SIGHUP reloads the rules, SIGUSR2 switches debug logging. A second SIGTERM or SIGINT ends the process on the
 * spot. Before there is a service, SIGTERM and SIGINT end the process, and the others wait for it: unheard they would
 * end it too.
 */
export class Signals {
  #service: Service | undefined;
  #ending = false;
  #reloadAsked = false;
  #configured: Level = "warn";
  readonly #ended = Promise.withResolvers<number>();

  constructor() {
    process.on("SIGTERM", (signal) => this.#end(signal));
    process.on("SIGINT", (signal) => this.#end(signal));
    process.on("SIGHUP", () => this.#reload());
    process.on("SIGUSR2", () => this.#switchDebug());
  }

  /** @returns resolves with the exit status when a signal has ended the service */
  steer(service: Service): Promise<number> {
    this.#service = service;
    this.#configured = service.log.level;
    if (this.#reloadAsked) service.reload();
    return this.#ended.promise;
  }

  #end(signal: NodeJS.Signals): void {
    const service = this.#service;
    if (service === undefined) process.exit(0);
    if (this.#ending) process.exit(1);
    this.#ending = true;
    service.log.warn(`received ${signal}, shutting down`);
    // Whatever a socket or a store still does: the process ends.
    setTimeout(() => process.exit(status()), Math.min(service.shutdownTimeout + 1000, LONGEST)).unref();
    void service.stop({ delay: signal === "SIGTERM" }).then(
      () => this.#ended.resolve(status()),
      () => this.#ended.resolve(1),
    );
  }

  #reload(): void {
    if (this.#service === undefined) this.#reloadAsked = true;
    else this.#service.reload();
  }

  #switchDebug(): void {
    const service = this.#service;
    if (service === undefined) return;
    service.setLogLevel(service.log.level === "debug" ? this.#configured : "debug");
    service.log.warn(`log level set to ${service.log.level} by SIGUSR2`);
  }
}

/** 0, unless the service has ended itself for a fault. */
function status(): number {
  return Number(process.exitCode ?? 0);
}
