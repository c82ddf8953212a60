import { type LineWriter, writerTo } from "../descriptor-writer.ts";
import { mergeTags, type Tag, tagSuffix } from "../names.ts";
import {
  type CounterSeries,
  counterName,
  type GaugeEntry,
  type StatisticsView,
  type TimerEntry,
} from "../series.ts";
import type { Counter } from "../statistics.ts";
import type { Sink } from "./sink.ts";

export interface OutputOptions {
  /** Counts lines lost because the reader was too slow. */
  readonly dropped: Counter;
  /** Default: standard output. */
  readonly writer?: LineWriter;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** Writes one JSON line for each statistic at each flush. Used with `USE_PUSHSTATS=false` and no other sink. */
class OutputSink implements Sink {
  readonly name = "output";
  readonly ready = true;
  readonly #writer: LineWriter;
  readonly #tags: readonly Tag[];
  readonly #dropped: Counter;
  readonly #now: () => number;
  #lines: string[] = [];

  constructor(tags: readonly Tag[], options: OutputOptions) {
    this.#tags = tags;
    this.#writer = options.writer ?? writerTo(1, { maxHeldBytes: 4 * 1024 * 1024 });
    this.#dropped = options.dropped;
    this.#now = options.now ?? Date.now;
  }

  counter(series: CounterSeries, stat: number, delta: number): void {
    this.#add(counterName(series, stat), series.tags, { type: "counter", value: delta });
  }

  gauge(entry: GaugeEntry, value: number): void {
    this.#add(entry.name, entry.tags, { type: "gauge", value });
  }

  timer(entry: TimerEntry, samples: readonly number[], seen: number): void {
    const sorted = samples.toSorted((a, b) => a - b);
    this.#add(entry.name, entry.tags, {
      type: "timer",
      count: seen,
      mean_ms: round(sorted.reduce((sum, sample) => sum + sample, 0) / sorted.length),
      p50_ms: round(sorted[Math.floor((sorted.length - 1) * 0.5)]!),
      p99_ms: round(sorted[Math.floor((sorted.length - 1) * 0.99)]!),
      max_ms: round(sorted.at(-1)!),
    });
  }

  commit(): void {
    if (this.#lines.length === 0) return;
    this.#writer.write(this.#lines.join(""));
    this.#lines = [];
    this.#dropped.value = this.#writer.dropped;
  }

  async room(): Promise<void> {
    this.commit();
  }

  close(milliseconds: number): Promise<void> {
    this.commit();
    return this.#writer.flush(milliseconds);
  }

  #add(name: string, own: readonly Tag[], rest: Record<string, string | number>): void {
    const full = name + tagSuffix(mergeTags(own, this.#tags));
    const line = { time: new Date(this.#now()).toISOString(), name: full, ...rest };
    this.#lines.push(`${JSON.stringify(line)}\n`);
  }
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

export function createOutputSink(view: StatisticsView, options: OutputOptions): Sink {
  return new OutputSink(view.tags, options);
}
