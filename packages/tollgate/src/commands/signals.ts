import type { Level } from "../observe/log.ts";
import type { Service } from "../service.ts";
import { onNpmEnd } from "./npm-end.ts";

/** The longest delay of a Node timer in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Handles signals from its creation on. After `control`, SIGTERM stops the service after the drain delay and SIGINT
 * stops it at once, SIGHUP reloads the rules, SIGUSR2 toggles debug logging. A second SIGTERM or SIGINT exits the
 * process. The end of npm, if npm started the process, counts as SIGTERM. Before `control`, SIGTERM and SIGINT exit the process, SIGHUP is applied later and SIGUSR2 is ignored.
 * Without handlers, SIGHUP and SIGUSR2 would also end the process.
 */
export class Signals {
  #service: Service | undefined;
  #ending = false;
  #reloadRequested = false;
  #configured: Level = "warn";
  readonly #ended = Promise.withResolvers<number>();

  constructor() {
    process.on("SIGTERM", (signal) => this.#end(signal));
    process.on("SIGINT", (signal) => this.#end(signal));
    process.on("SIGHUP", () => this.#reload());
    process.on("SIGUSR2", () => this.#switchDebug());
    if (process.env.npm_execpath !== undefined) onNpmEnd(() => this.#end("SIGTERM"));
  }

  /** @returns resolves with the exit status when a signal has stopped the service */
  control(service: Service): Promise<number> {
    this.#service = service;
    this.#configured = service.log.level;
    if (this.#reloadRequested) service.reload();
    return this.#ended.promise;
  }

  #end(signal: NodeJS.Signals): void {
    const service = this.#service;
    if (service === undefined) process.exit(0);
    if (this.#ending) process.exit(1);
    this.#ending = true;
    service.log.warn(`received ${signal}, shutting down`);
    // Exits even if a socket or a store does not close.
    setTimeout(() => process.exit(status()), Math.min(service.shutdownTimeout + 1000, LONGEST_TIMER)).unref();
    void service.stop({ delay: signal === "SIGTERM" }).then(
      () => this.#ended.resolve(status()),
      () => this.#ended.resolve(1),
    );
  }

  #reload(): void {
    if (this.#service === undefined) this.#reloadRequested = true;
    else this.#service.reload();
  }

  #switchDebug(): void {
    const service = this.#service;
    if (service === undefined) return;
    service.setLogLevel(service.log.level === "debug" ? this.#configured : "debug");
    service.log.warn(`log level set to ${service.log.level} by SIGUSR2`);
  }
}

/** 0, unless the service has stopped because of an error. */
function status(): number {
  return Number(process.exitCode ?? 0);
}
