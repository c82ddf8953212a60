import type { Tag } from "./names.ts";
import type { Counter, RuleStatistics } from "./statistics.ts";
import type { RecordingTimer } from "./timer.ts";

/** Labels of a rule's statistics, from the rule itself, never from splitting a name. */
export interface RuleLabels {
  readonly domain: string;
  /** The first descriptor level; empty for an override without entries and for `domain_not_found`. */
  readonly key1: string;
  /** The rest of the path, joined by dots; empty where there is one level only. */
  readonly key2: string;
}

/** One or more counters under one name. The six of a rule are one series, so that 100,000 rules are 100,000 objects. */
export interface CounterSeries {
  /** Numbers the first counter; the others follow. Sinks keep what they sent last in arrays by these numbers. */
  readonly firstId: number;
  /** The full, sanitised name without tags; of a rule's series, without `.<stat>`. */
  readonly name: string;
  /** The stats of the series; a single counter has one, which is empty. */
  readonly stats: readonly string[];
  /** Tags that stand in the name itself, as in `multiget.__code=success`. */
  readonly tags: readonly Tag[];
  readonly labels: RuleLabels | undefined;
  /** The present value of a stat, by its place in `stats`. */
  read(stat: number): number;
}

export interface GaugeEntry {
  readonly name: string;
  readonly tags: readonly Tag[];
  /** NaN where the reader fails. */
  read(): number;
}

export interface TimerEntry {
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly timer: RecordingTimer;
}

/** What sinks and pages read. */
export interface StatisticsView {
  /** `EXTRA_TAGS`, sorted by key. */
  readonly tags: readonly Tag[];
  /** Grows at the end only: a reader may keep its place. */
  readonly counters: readonly CounterSeries[];
  readonly gauges: Iterable<GaugeEntry>;
  /** Grows at the end only. */
  readonly timers: readonly TimerEntry[];
  /** How many counters there are: one more than the highest id. */
  readonly counterCount: number;
  /** Readers wait for it before they read: what is counted elsewhere is brought in. */
  refresh(): Promise<void>;
  /** Hears of every timer, those that exist and those to come, before anything else is recorded. */
  onTimer(listener: (entry: TimerEntry) => void): void;
}

/** The full name of one counter, without tags. */
export function counterName(series: CounterSeries, stat: number): string {
  const name = series.stats[stat]!;
  return name === "" ? series.name : `${series.name}.${name}`;
}

/** The stats of a rule, by their place in its series. */
export const RULE_STATS = [
  "total_hits",
  "over_limit",
  "near_limit",
  "within_limit",
  "shadow_mode",
  "over_limit_with_local_cache",
] as const;

const SINGLE = [""] as const;

export class RuleSeries implements CounterSeries, RuleStatistics {
  totalHits = 0;
  overLimit = 0;
  nearLimit = 0;
  withinLimit = 0;
  shadowMode = 0;
  overLimitWithLocalCache = 0;
  readonly firstId: number;
  readonly name: string;
  readonly labels: RuleLabels;

  constructor(firstId: number, name: string, labels: RuleLabels) {
    this.firstId = firstId;
    this.name = name;
    this.labels = labels;
  }

  get stats(): typeof RULE_STATS {
    return RULE_STATS;
  }

  get tags(): readonly Tag[] {
    return [];
  }

  read(stat: number): number {
    switch (stat) {
      case 0:
        return this.totalHits;
      case 1:
        return this.overLimit;
      case 2:
        return this.nearLimit;
      case 3:
        return this.withinLimit;
      case 4:
        return this.shadowMode;
      default:
        return this.overLimitWithLocalCache;
    }
  }
}

export class SingleSeries implements CounterSeries, Counter {
  value = 0;
  readonly firstId: number;
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly labels: RuleLabels | undefined;
  readonly stats: readonly string[];

  constructor(
    firstId: number,
    name: string,
    tags: readonly Tag[],
    labels?: RuleLabels,
    stats: readonly string[] = SINGLE,
  ) {
    this.firstId = firstId;
    this.name = name;
    this.tags = tags;
    this.labels = labels;
    this.stats = stats;
  }

  read(): number {
    return this.value;
  }
}

/** A counter that is kept elsewhere. */
export class ReadSeries implements CounterSeries {
  readonly firstId: number;
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly labels = undefined;
  readonly stats: readonly string[] = SINGLE;
  readonly read: () => number;

  constructor(firstId: number, name: string, tags: readonly Tag[], read: () => number) {
    this.firstId = firstId;
    this.name = name;
    this.tags = tags;
    this.read = read;
  }
}

export const NOT_FOUND_STATS = ["domain_not_found"] as const;
