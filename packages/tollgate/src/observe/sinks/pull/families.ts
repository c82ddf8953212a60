import type { StatisticKind } from "../../catalogue.ts";
import type { Logger } from "../../log.ts";
import {
  type CounterSeries,
  counterName,
  type GaugeEntry,
  type StatisticsView,
  type TimerEntry,
} from "../../series.ts";
import type { Counter } from "../../statistics.ts";
import { ITEMS_PER_TURN, nextTurn } from "../../yielding.ts";
import type { Mapped, Mapping, Subject } from "./mapping.ts";
import { Histogram, Summary } from "./observers.ts";

export type FamilyType = "counter" | "gauge" | "histogram" | "summary";

/** One line of a counter or gauge, or one set of lines of a histogram or summary. */
export interface Sample {
  /** `a="b",c="d"`, escaped, or empty. */
  readonly labels: string;
  /** What adds up to the value of a counter or gauge. */
  readonly sources: (() => number)[];
  readonly observer: Histogram | Summary | undefined;
  readonly ttl: number;
  /** For `ttl`: the value at the last scrape that found a new one, and when that was. */
  lastValue: number;
  lastChange: number;
}

/** All samples under one metric name. */
export interface Family {
  readonly metric: string;
  readonly type: FamilyType;
  readonly help: string;
  /** By their labels. */
  readonly samples: Map<string, Sample>;
}

export interface FamiliesOptions {
  readonly mapping: Mapping;
  readonly log: Logger;
  /** Counts series that could not be shown because their metric has another type already. */
  readonly dropped: Counter;
  readonly now?: () => number;
}

/** What the registry's statistics are as metrics. Each statistic is mapped once, when it is first seen. */
export class Families {
  readonly #view: StatisticsView;
  readonly #mapping: Mapping;
  readonly #options: FamiliesOptions;
  readonly #now: () => number;
  readonly #families: Map<string, Family> = new Map();
  /** Gauges may be replaced by others of the same name. */
  readonly #gauges: Map<string, { entry: GaugeEntry }> = new Map();
  readonly #conflicts: Set<string> = new Set();
  #countersSeen = 0;

  constructor(view: StatisticsView, options: FamiliesOptions) {
    this.#view = view;
    this.#mapping = options.mapping;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    view.onTimer((entry) => this.#addTimer(entry));
  }

  /** Every family, by name, with the statistics that there are now. Works in turns. */
  async collect(): Promise<readonly Family[]> {
    await this.#view.refresh();
    const { counters } = this.#view;
    for (let since = 0; this.#countersSeen < counters.length; since++) {
      // Taken before waiting, so that two scrapes at a time map nothing twice.
      this.#addCounters(counters[this.#countersSeen++]!);
      if (since % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
    }
    for (const entry of this.#view.gauges) this.#addGauge(entry);
    return [...this.#families.values()].sort((a, b) => (a.metric < b.metric ? -1 : 1));
  }

  #addCounters(series: CounterSeries): void {
    for (let stat = 0; stat < series.stats.length; stat++) {
      const mapped = this.#map(counterName(series, stat), "counter", series.stats[stat]!, series);
      if (mapped === undefined) continue;
      const { scale } = mapped;
      this.#sample(mapped, "counter")?.sources.push(
        scale === 1 ? () => series.read(stat) : () => series.read(stat) * scale,
      );
    }
  }

  #addGauge(entry: GaugeEntry): void {
    const id = JSON.stringify([entry.name, entry.tags]);
    const known = this.#gauges.get(id);
    if (known !== undefined) {
      known.entry = entry;
      return;
    }
    const holder = { entry };
    this.#gauges.set(id, holder);
    const mapped = this.#map(entry.name, "gauge", "", entry);
    if (mapped !== undefined)
      this.#sample(mapped, "gauge")?.sources.push(() => holder.entry.read() * mapped.scale);
  }

  #addTimer(entry: TimerEntry): void {
    const mapped = this.#map(entry.name, "timer", "", entry);
    if (mapped === undefined) return;
    const observer = this.#sample(mapped, mapped.observer.type)?.observer;
    if (observer === undefined) return;
    const { scale } = mapped;
    entry.timer.listen((milliseconds) => observer.observe(milliseconds * scale));
  }

  #map(
    name: string,
    kind: StatisticKind,
    stat: string,
    of: { readonly labels?: Subject["rule"]; readonly tags: Subject["tags"] },
  ): Mapped | undefined {
    return this.#mapping({ name, kind, stat, rule: of.labels, tags: [...of.tags, ...this.#view.tags] });
  }

  #sample(mapped: Mapped, type: FamilyType): Sample | undefined {
    let family = this.#families.get(mapped.metric);
    if (family === undefined) {
      family = { metric: mapped.metric, type, help: mapped.help, samples: new Map() };
      this.#families.set(mapped.metric, family);
    }
    if (family.type !== type) {
      this.#conflict(family, type);
      return undefined;
    }
    const labels = mapped.labels.map(({ key, value }) => `${key}="${escapeLabel(value)}"`).join(",");
    let sample = family.samples.get(labels);
    if (sample === undefined) {
      sample = {
        labels,
        sources: [],
        observer: this.#observer(mapped, type),
        ttl: mapped.ttl,
        lastValue: 0,
        lastChange: this.#now(),
      };
      family.samples.set(labels, sample);
    }
    return sample;
  }

  #observer(mapped: Mapped, type: FamilyType): Histogram | Summary | undefined {
    if (type !== "histogram" && type !== "summary") return undefined;
    const shape = mapped.observer;
    return shape.type === "histogram" ? new Histogram(shape) : new Summary(shape, this.#now);
  }

  #conflict(family: Family, type: FamilyType): void {
    this.#options.dropped.value++;
    if (this.#conflicts.has(family.metric)) return;
    this.#conflicts.add(family.metric);
    this.#options.log.warn(
      `statistics: the metric ${family.metric} is a ${family.type}; what is mapped to it as a ${type} is not shown`,
    );
  }
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
