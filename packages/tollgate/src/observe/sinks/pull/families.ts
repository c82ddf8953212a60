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
import { labelName, type Mapped, type Mapping, type Subject } from "./mapping.ts";
import { Histogram, Summary } from "./observers.ts";

export type FamilyType = "counter" | "gauge" | "histogram" | "summary";

/** A series of counters, or a gauge. */
interface Readable {
  read(stat: number): number;
}

/** One line of a counter or gauge, or the lines of one histogram or summary. There may be very many. */
export class Sample {
  /** `a="b",c="d"`, escaped, or empty. */
  readonly labels: string;
  readonly observer: Histogram | Summary | undefined;
  readonly expiry: Expiry | undefined;
  #source: Readable | undefined;
  #stat = 0;
  #scale = 1;
  /** Further statistics that are mapped to the same labels. Their values are added. */
  #more: (() => number)[] | undefined;

  constructor(labels: string, observer: Histogram | Summary | undefined, expiry: Expiry | undefined) {
    this.labels = labels;
    this.observer = observer;
    this.expiry = expiry;
  }

  add(source: Readable, stat: number, scale: number): void {
    if (this.#source !== undefined) {
      this.#more ??= [];
      this.#more.push(() => source.read(stat) * scale);
      return;
    }
    this.#source = source;
    this.#stat = stat;
    this.#scale = scale;
  }

  /** The value of a counter or gauge. */
  read(): number {
    let value = (this.#source?.read(this.#stat) ?? 0) * this.#scale;
    if (this.#more !== undefined) for (const read of this.#more) value += read();
    return value;
  }
}

/** Detects a series that has not changed for its `ttl`. */
export class Expiry {
  readonly #ttl: number;
  #value = 0;
  #changed: number;

  constructor(ttl: number, now: number) {
    this.#ttl = ttl;
    this.#changed = now;
  }

  isOver(value: number, now: number): boolean {
    if (value !== this.#value) {
      this.#value = value;
      this.#changed = now;
    }
    return now - this.#changed > this.#ttl;
  }
}

/** All samples under one metric name. */
export interface Family {
  readonly metric: string;
  readonly type: FamilyType;
  readonly help: string;
  /** Samples by their labels. */
  readonly samples: Map<string, Sample>;
}

export interface FamiliesOptions {
  readonly mapping: Mapping;
  readonly log: Logger;
  /** Counts series that are not shown because their metric already has another type. */
  readonly dropped: Counter;
  /** Monotonic milliseconds, for the age of samples. */
  readonly now?: () => number;
}

/** The registry's statistics as metrics. Maps each statistic once, at its first scrape. */
export class Families {
  readonly #view: StatisticsView;
  readonly #mapping: Mapping;
  readonly #options: FamiliesOptions;
  readonly #now: () => number;
  readonly #families: Map<string, Family> = new Map();
  /** Holders, because a gauge may be replaced by another of the same name. */
  readonly #gauges: Map<string, { entry: GaugeEntry }> = new Map();
  readonly #conflicts: Set<string> = new Set();
  #countersSeen = 0;
  #lastLabels = "";
  #lastTags: Mapped["labels"] | undefined;

  constructor(view: StatisticsView, options: FamiliesOptions) {
    this.#view = view;
    this.#mapping = options.mapping;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    view.onTimer((entry) => this.#addTimer(entry));
  }

  /** `EXTRA_TAGS` as labels, escaped: `a="b",c="d"`. */
  get tagLabels(): string {
    return this.#view.tags.map(({ key, value }) => `${labelName(key)}="${escapeLabel(value)}"`).join(",");
  }

  /** Returns every family of the current statistics, sorted by name. Yields to other work in between. */
  async collect(): Promise<readonly Family[]> {
    await this.#view.refresh();
    const { counters } = this.#view;
    for (let since = 0; this.#countersSeen < counters.length; since++) {
      // Advances before it waits, so that two concurrent scrapes map nothing twice.
      this.#addCounters(counters[this.#countersSeen++]!);
      // A series is several counters.
      if (since % (ITEMS_PER_TURN / 8) === 0) await nextTurn();
    }
    for (const entry of this.#view.gauges) this.#addGauge(entry);
    return [...this.#families.values()].sort((a, b) => (a.metric < b.metric ? -1 : 1));
  }

  #addCounters(series: CounterSeries): void {
    const tags = this.#tagsOf(series);
    for (let stat = 0; stat < series.stats.length; stat++) {
      const mapped = this.#mapping({
        name: counterName(series, stat),
        kind: "counter",
        stat: series.stats[stat]!,
        rule: series.labels,
        tags,
      });
      if (mapped !== undefined) this.#sample(mapped, "counter")?.add(series, stat, mapped.scale);
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
    const mapped = this.#map(entry, "gauge");
    if (mapped !== undefined)
      this.#sample(mapped, "gauge")?.add({ read: () => holder.entry.read() }, 0, mapped.scale);
  }

  #addTimer(entry: TimerEntry): void {
    const mapped = this.#map(entry, "timer");
    if (mapped === undefined) return;
    const observer = this.#sample(mapped, mapped.observer.type)?.observer;
    if (observer === undefined) return;
    const { scale } = mapped;
    entry.timer.listen((milliseconds, times) => observer.observe(milliseconds * scale, times));
  }

  #map(entry: GaugeEntry | TimerEntry, kind: StatisticKind): Mapped | undefined {
    const { stat = "", labels: rule } = entry as GaugeEntry;
    return this.#mapping({ name: entry.name, kind, stat, rule, tags: this.#tagsOf(entry) });
  }

  #tagsOf({ tags }: { readonly tags: Subject["tags"] }): Subject["tags"] {
    return tags.length === 0 ? this.#view.tags : [...tags, ...this.#view.tags];
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
    const labels = this.#labelText(mapped);
    let sample = family.samples.get(labels);
    if (sample === undefined) {
      const expiry = mapped.ttl === 0 ? undefined : new Expiry(mapped.ttl, this.#now());
      sample = new Sample(labels, this.#observer(mapped, type), expiry);
      family.samples.set(labels, sample);
    }
    return sample;
  }

  /** The statistics of a rule are consecutive and share one text. */
  #labelText({ labels }: Mapped): string {
    if (labels === this.#lastTags) return this.#lastLabels;
    this.#lastTags = labels;
    let text = "";
    for (const { key, value } of labels) text += `${text === "" ? "" : ","}${key}="${escapeLabel(value)}"`;
    if (text !== this.#lastLabels) this.#lastLabels = text;
    return this.#lastLabels;
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
      `statistics: the metric ${family.metric} is a ${family.type}: series mapped to it as a ${type} are not shown`,
    );
  }
}

export function escapeLabel(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
