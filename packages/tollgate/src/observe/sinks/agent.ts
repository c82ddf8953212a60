import type { Logger } from "../log.ts";
import { cut, MAX_NAME_BYTES, sanitise, type Tag, tagFields } from "../names.ts";
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
  /** Mogrifiers in the order of `AGENTSTATS_MOGRIFIERS`. */
  readonly mogrifiers: readonly MogrifierOptions[];
  readonly log: Logger;
  /** Counts lost lines. */
  readonly dropped: Counter;
}

interface Emitted {
  readonly name: string;
  /** `|#k:v,k2:v2`, or empty. */
  readonly suffix: string;
}

/** Maximum characters of the cached names and their mogrified forms. */
const MAX_REMEMBERED = 32 * 1024 * 1024;

/** The statsd protocol with tags, over UDP, for the agents of monitoring services. */
export class AgentSink implements Sink {
  readonly name = "agent";
  readonly #transport: Transport;
  readonly #lines: LineBuffer;
  readonly #tags: readonly Tag[];
  readonly #suffix: string;
  readonly #mogrify: Mogrifier | undefined;
  /** Cache of mogrified names. Cleared when it is full. */
  readonly #emitted: Map<string, Emitted> = new Map();
  #remembered = 0;

  /** @param mogrify undefined: names do not change */
  constructor(transport: Transport, tags: readonly Tag[], mogrify: Mogrifier | undefined) {
    this.#transport = transport;
    this.#lines = new LineBuffer(transport);
    this.#tags = tags;
    this.#suffix = tagFields(tags);
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
    if (this.#mogrify === undefined)
      return { name, suffix: own.length === 0 ? this.#suffix : tagFields([...own, ...this.#tags]) };
    const id = own.length === 0 ? name : name + tagFields(own);
    return this.#emitted.get(id) ?? this.#remember(id, this.#mogrified(this.#mogrify, name, own));
  }

  #mogrified(mogrify: Mogrifier, name: string, own: readonly Tag[]): Emitted {
    const mogrified = mogrify(name);
    return {
      // A template may contain characters that the protocol reserves.
      name: mogrified === undefined ? name : cut(sanitise(mogrified.name), MAX_NAME_BYTES),
      suffix: tagFields([...own, ...this.#tags, ...(mogrified?.tags ?? [])]),
    };
  }

  #remember(id: string, emitted: Emitted): Emitted {
    const characters = id.length + emitted.name.length + emitted.suffix.length;
    if (this.#remembered + characters > MAX_REMEMBERED) {
      this.#emitted.clear();
      this.#remembered = 0;
    }
    this.#emitted.set(id, emitted);
    this.#remembered += characters;
    return emitted;
  }
}

/** @throws {SinkConfigError} for an invalid mogrifier */
export function createAgentSink(view: StatisticsView, options: AgentOptions): Sink {
  const mogrify = options.mogrifiers.length === 0 ? undefined : compileMogrifiers(options.mogrifiers);
  return new AgentSink(new DatagramTransport(options.host, options.port, options), view.tags, mogrify);
}
