import type { Logger } from "../log.ts";
import type { Tag } from "../names.ts";
import {
  type CounterSeries,
  counterName,
  type GaugeEntry,
  type StatisticsView,
  type TimerEntry,
} from "../series.ts";
import type { Counter } from "../statistics.ts";
import { LineBuffer } from "./lines.ts";
import { compileMogrifiers, type Mogrifier, type MogrifierOptions } from "./mogrifier.ts";
import { rateSuffix } from "./push.ts";
import { formatNumber, type Sink } from "./sink.ts";
import { DatagramTransport, type Transport } from "./transport.ts";

export interface AgentOptions {
  /** `PUSHSTATS_HOST`. */
  readonly host: string;
  /** `PUSHSTATS_PORT`. */
  readonly port: number;
  /** In the order of `AGENTSTATS_MOGRIFIERS`. */
  readonly mogrifiers: readonly MogrifierOptions[];
  readonly log: Logger;
  /** Counts the lines that were lost. */
  readonly dropped: Counter;
}

interface Emitted {
  readonly name: string;
  /** `|#k:v,k2:v2`, or empty. */
  readonly suffix: string;
}

/** The statsd protocol with tags, over UDP, as the agents of monitoring services take it. */
export class AgentSink implements Sink {
  readonly name = "agent";
  readonly #transport: Transport;
  readonly #lines: LineBuffer;
  readonly #tags: readonly Tag[];
  readonly #mogrify: Mogrifier;
  /** What a name became; the registry bounds how many there are. */
  readonly #emitted: Map<string, Emitted> = new Map();

  constructor(transport: Transport, tags: readonly Tag[], mogrify: Mogrifier) {
    this.#transport = transport;
    this.#lines = new LineBuffer(transport);
    this.#tags = tags;
    this.#mogrify = mogrify;
  }

  get ready(): boolean {
    return this.#transport.ready;
  }

  counter(series: CounterSeries, stat: number, delta: number): void {
    const { name, suffix } = this.#emit(counterName(series, stat), series.tags);
    this.#lines.add(`${name}:${formatNumber(delta)}|c${suffix}`);
  }

  gauge(entry: GaugeEntry, value: number): void {
    const { name, suffix } = this.#emit(entry.name, entry.tags);
    this.#lines.add(`${name}:${formatNumber(value)}|g${suffix}`);
  }

  timer(entry: TimerEntry, samples: readonly number[], seen: number): void {
    const { name, suffix } = this.#emit(entry.name, entry.tags);
    const rate = rateSuffix(samples.length, seen);
    for (const sample of samples) this.#lines.add(`${name}:${formatNumber(sample)}|ms${rate}${suffix}`);
  }

  commit(): void {
    this.#lines.send();
  }

  room(milliseconds: number): Promise<void> {
    return this.#transport.room(milliseconds);
  }

  close(milliseconds: number): Promise<void> {
    return this.#transport.close(milliseconds);
  }

  #emit(name: string, own: readonly Tag[]): Emitted {
    const id = own.length === 0 ? name : `${name}|${own.map(({ key, value }) => `${key}=${value}`).join()}`;
    let emitted = this.#emitted.get(id);
    if (emitted === undefined) {
      const mogrified = this.#mogrify(name);
      const tags = [...own, ...this.#tags, ...(mogrified?.tags ?? [])];
      const list = tags.map(({ key, value }) => `${safe(key)}:${safe(value)}`).join(",");
      emitted = {
        name: safe(mogrified?.name ?? name).replaceAll(":", "_"),
        suffix: list === "" ? "" : `|#${list}`,
      };
      this.#emitted.set(id, emitted);
    }
    return emitted;
  }
}

/** A mogrifier's template may bring what the protocol uses itself. */
function safe(text: string): string {
  return text.replace(/[|,#@\s]/g, "_");
}

/** @throws {SinkConfigError} for a bad mogrifier */
export function createAgentSink(view: StatisticsView, options: AgentOptions): Sink {
  const mogrify = compileMogrifiers(options.mogrifiers);
  return new AgentSink(new DatagramTransport(options.host, options.port, options), view.tags, mogrify);
}
