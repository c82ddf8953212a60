import type { Logger } from "./log.ts";

/** One part of the service that is healthy or unhealthy. */
export interface HealthComponent {
  readonly name: string;
  readonly healthy: boolean;
  /** @param reason what is wrong, for the log and the 503 response; must not contain a store's message or an address */
  fail(reason: string): void;
  heal(): void;
}

export interface Health {
  /** Whether every component is healthy. */
  readonly healthy: boolean;
  /**
   * Adds a component to the overall health.
   * @param reason why the component starts unhealthy; absent: it starts healthy
   */
  component(name: string, reason?: string): HealthComponent;
  /** Marks the service as unhealthy until it exits. Called on SIGTERM. */
  terminate(): void;
  /** The body of `/healthcheck`: `OK`, or one line for each unhealthy component. */
  body(): string;
  /**
   * Calls `listener` on each change of the overall health, but not with the current state (gRPC's Watch reads
   * {@link healthy} first).
   * @returns a function that removes the listener
   */
  subscribe(listener: (healthy: boolean) => void): () => void;
}

/** Component names of the contract. */
export const componentNames = {
  store: "kvstore",
  perSecondStore: "kvstore_per_second",
  config: "config",
  termination: "termination",
} as const;

class ComponentHealth implements Health {
  readonly #log: Logger;
  readonly #reasons: Map<string, string | undefined> = new Map();
  readonly #listeners: Set<(healthy: boolean) => void> = new Set();
  #healthy = true;
  #terminated = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  component(name: string, reason?: string): HealthComponent {
    if (this.#reasons.has(name)) throw new Error(`health component ${name} already exists`);
    this.#reasons.set(name, reason);
    this.#update();
    const reasons = this.#reasons;
    return {
      name,
      get healthy() {
        return reasons.get(name) === undefined;
      },
      fail: (why) => this.#set(name, why),
      heal: () => this.#set(name, undefined),
    };
  }

  terminate(): void {
    if (this.#terminated) return;
    this.#terminated = true;
    this.#set(componentNames.termination, "the service is shutting down");
  }

  body(): string {
    if (this.#healthy) return "OK";
    let lines = "";
    for (const [name, reason] of this.#reasons)
      if (reason !== undefined) lines += `${name}: ${reason.replace(/[\r\n]+/g, " ")}\n`;
    return lines;
  }

  subscribe(listener: (healthy: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(name: string, reason: string | undefined): void {
    const before = this.#reasons.get(name);
    this.#reasons.set(name, reason);
    if ((before === undefined) === (reason === undefined)) return;
    this.#log.warn(
      reason === undefined
        ? `health: component ${name} is healthy`
        : `health: component ${name} is unhealthy: ${reason}`,
    );
    this.#update();
  }

  #update(): void {
    const healthy = [...this.#reasons.values()].every((reason) => reason === undefined);
    if (healthy === this.#healthy) return;
    this.#healthy = healthy;
    for (const listener of [...this.#listeners]) {
      try {
        listener(healthy);
      } catch (error) {
        this.#log.error(`health: a listener failed: ${String(error)}`);
      }
    }
  }
}

/** Creates a health state without components, which is healthy. */
export function createHealth(log: Logger): Health {
  return new ComponentHealth(log);
}
