import type {
  Counter,
  GaugeReader,
  MetricKey,
  ReservationStatistics,
  RuleStatistics,
  Statistics,
  Timer,
} from "../../observe/statistics.ts";
import type { BinnedDurations } from "./duration-bins.ts";
import { reservationFields, ruleFields, type ThreadFigures } from "./thread-messages.ts";

/**
 * The statistics of all threads in one registry. Adds counters and durations of the other threads to those of the main
 * thread. A gauge shows the sum over the threads, or the maximum if a sum has no meaning.
 */
export class MergedStatistics implements Statistics {
  readonly #registry: Statistics;
  /** Name to thread to value. The main thread is 0. */
  readonly #gauges = new Map<string, Map<number, GaugeReader>>();
  readonly #sources: (() => void)[] = [];

  constructor(registry: Statistics) {
    this.#registry = registry;
  }

  rule(key: MetricKey, fromRequest: boolean): RuleStatistics {
    return this.#registry.rule(key, fromRequest);
  }
  reservationsOf(rule: RuleStatistics): ReservationStatistics {
    return this.#registry.reservationsOf(rule);
  }
  domainNotFound(domain: string): Counter {
    return this.#registry.domainNotFound(domain);
  }
  counter(name: string): Counter {
    return this.#registry.counter(name);
  }
  timer(name: string): Timer {
    return this.#registry.timer(name);
  }

  /** Adds increases to a counter, so that other threads' increases can be added to it as well. */
  counterFrom(name: string, read: () => number): void {
    const counter = this.#registry.counter(name);
    let sent = 0;
    this.#sources.push(() => {
      const present = read();
      counter.value += present - sent;
      sent = present;
    });
  }

  gauge(name: string, read: GaugeReader): void {
    this.#setGauge(name, 0, read);
  }

  /** Updates the counters of the main thread's sources. */
  refresh(): void {
    for (const source of this.#sources) source();
  }

  /** Adds the figures of a thread. */
  add(thread: number, figures: ThreadFigures): void {
    for (const { key, fromRequest, increases, reservations } of figures.rules) {
      const rule = this.#registry.rule(key, fromRequest);
      ruleFields.forEach((field, index) => {
        rule[field] += increases[index]!;
      });
      if (reservations === undefined) continue;
      const own = this.#registry.reservationsOf(rule);
      reservationFields.forEach((field, index) => {
        own[field] += reservations[index]!;
      });
    }
    for (const [domain, increase] of figures.notFound)
      this.#registry.domainNotFound(domain).value += increase;
    for (const [name, increase] of figures.counters) this.#registry.counter(name).value += increase;
    for (const [name, value] of figures.gauges) this.#setGauge(name, thread, () => value);
    for (const [name, durations] of figures.durations) this.addDurations(name, durations);
  }

  addDurations(name: string, { milliseconds, times }: BinnedDurations): void {
    const timer = this.#registry.timer(name);
    for (let index = 0; index < milliseconds.length; index++)
      timer.record(milliseconds[index]!, times[index]!);
  }

  /** Removes the gauges of a thread that has ended. */
  forget(thread: number): void {
    for (const values of this.#gauges.values()) values.delete(thread);
  }

  #setGauge(name: string, thread: number, read: GaugeReader): void {
    let values = this.#gauges.get(name);
    if (values === undefined) {
      const all = new Map<number, GaugeReader>();
      values = all;
      this.#gauges.set(name, all);
      const greatest = /degraded|average|nodes/.test(name);
      this.#registry.gauge(name, () => {
        const present = [...all.values()].map((reader) => reader());
        return greatest ? Math.max(...present) : present.reduce((sum, value) => sum + value, 0);
      });
    }
    values.set(thread, read);
  }
}
