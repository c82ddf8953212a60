import { tagSuffix } from "../observe/names.ts";
import type { Registry } from "../observe/registry.ts";
import type { CallState, StoreState } from "./messages.ts";

const PREFIX = "ratelimit.";
/** Gauges of the process and its statistics, not of a store. */
const OTHERS = /^ratelimit\.(?:process|nodejs|statistics|service)\./;
const DEGRADED = /\.degraded$/;

/** The store, its pools, its breaker and the over-limit cache, from their statistics. */
export class StoreWatch {
  readonly #registry: Registry;
  readonly #kind: string;
  readonly #failureMode: string | undefined;
  #degradedSince: number | undefined;
  #gauges: StoreState["gauges"] = [];

  constructor(registry: Registry, kind: string, failureMode: string | undefined) {
    this.#registry = registry;
    this.#kind = kind;
    this.#failureMode = failureMode;
  }

  get degraded(): boolean {
    return this.#degradedSince !== undefined;
  }

  /** @param now monotonic, in milliseconds */
  read(now: number): void {
    const gauges: [string, number][] = [];
    for (const { name, tags, read } of this.#registry.gauges) {
      if (!name.startsWith(PREFIX) || OTHERS.test(name)) continue;
      const value = read();
      if (Number.isFinite(value)) gauges.push([name.slice(PREFIX.length) + tagSuffix(tags), value]);
    }
    for (const series of this.#registry.counters)
      if (series.labels === undefined && series.name.startsWith(PREFIX) && !OTHERS.test(series.name))
        gauges.push([series.name.slice(PREFIX.length) + tagSuffix(series.tags), series.read(0)]);
    this.#gauges = gauges.sort(([a], [b]) => (a < b ? -1 : 1));
    const isDegraded = gauges.some(([name, value]) => DEGRADED.test(name) && value > 0);
    if (!isDegraded) this.#degradedSince = undefined;
    else this.#degradedSince ??= now;
  }

  /** @param now monotonic, in milliseconds */
  state(now: number, { errors }: CallState): StoreState {
    const since = this.#degradedSince;
    return {
      kind: this.#kind,
      ...(this.#failureMode !== undefined && { failureMode: this.#failureMode }),
      degraded: since !== undefined,
      ...(since !== undefined && { degradedSeconds: Math.floor((now - since) / 1000) }),
      errorsPerSecond: errors
        .filter(([kind]) => kind !== "service_error" && kind !== "oversized_request")
        .reduce((sum, [, perSecond]) => sum + perSecond, 0),
      gauges: this.#gauges,
    };
  }
}
