import type { Logger } from "../log.ts";
import { mergeTags, type Tag, tagSuffix } from "../names.ts";
import {
  type CounterSeries,
  counterName,
  type GaugeEntry,
  type StatisticsView,
  type TimerEntry,
} from "../series.ts";
import type { Counter } from "../statistics.ts";
import { LineBuffer } from "./lines.ts";
import { formatNumber, type Sink } from "./sink.ts";
import { DatagramTransport, StreamTransport, type Transport } from "./transport.ts";

export interface PushOptions {
  /** `PUSHSTATS_PROTOCOL`. */
  readonly protocol: "tcp" | "udp" | "unix";
  /** `PUSHSTATS_HOST`; for `unix` the path of the socket. */
  readonly host: string;
  /** `PUSHSTATS_PORT`; unused for `unix`. */
  readonly port: number;
  readonly log: Logger;
  /** Counts lost lines. */
  readonly dropped: Counter;
  /** First and maximum pause between connection attempts, in milliseconds. Default 100 and 3000. */
  readonly reconnect?: readonly [first: number, most: number];
}

/** The plain statsd line protocol; tags as `.__key=value` at the end of a name. */
export class PushSink implements Sink {
  readonly name = "push";
  readonly #transport: Transport;
  readonly #lines: LineBuffer;
  readonly #tags: readonly Tag[];
  readonly #suffix: string;

  constructor(transport: Transport, tags: readonly Tag[]) {
    this.#transport = transport;
    this.#lines = new LineBuffer(transport);
    this.#tags = tags;
    this.#suffix = tagSuffix(tags);
  }

  get ready(): boolean {
    return this.#transport.ready;
  }

  counter(series: CounterSeries, stat: number, delta: number): void {
    this.#lines.add(`${counterName(series, stat)}${this.#suffixOf(series.tags)}:${formatNumber(delta)}|c`);
  }

  gauge(entry: GaugeEntry, value: number): void {
    this.#lines.add(`${entry.name}${this.#suffixOf(entry.tags)}:${formatNumber(value)}|g`);
  }

  timer(entry: TimerEntry, samples: readonly number[], seen: number): void {
    const name = `${entry.name}${this.#suffixOf(entry.tags)}`;
    const rate = rateSuffix(samples.length, seen);
    for (const sample of samples) this.#lines.add(`${name}:${formatNumber(sample)}|ms${rate}`);
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

  #suffixOf(own: readonly Tag[]): string {
    if (own.length === 0) return this.#suffix;
    return tagSuffix(mergeTags(own, this.#tags));
  }
}

/** Returns the sample rate (`|@0.25`) if only a part of the durations is sent, else an empty text. */
export function rateSuffix(sent: number, seen: number): string {
  return sent === seen ? "" : `|@${formatNumber(Math.max(sent / seen, 0.000_001))}`;
}

export function createPushSink(view: StatisticsView, options: PushOptions): Sink {
  return new PushSink(transportOf(options), view.tags);
}

function transportOf(options: PushOptions): Transport {
  const { host, port } = options;
  switch (options.protocol) {
    case "tcp":
      return new StreamTransport({ host, port }, `tcp ${host}:${port}`, options);
    case "unix":
      return new StreamTransport({ path: host }, `unix ${host}`, options);
    case "udp":
      return new DatagramTransport(host, port, options);
  }
}
