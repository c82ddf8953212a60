import type { Tag } from "./names.ts";
import type { Counter, ReservationStatistics, RuleStatistics } from "./statistics.ts";
import type { RecordingTimer } from "./timer.ts";

/** Labels of a rule's statistics. They come from the rule itself, never from a split name. */
export interface RuleLabels {
  readonly domain: string;
  /** The first descriptor level; empty for an override without entries and for `domain_not_found`. */
  readonly key1: string;
  /** The other levels, joined by dots; empty for a single level. */
  readonly key2: string;
}

/** One or more counters under one name. The counters of a rule share one object, to save memory. */
export interface CounterSeries {
  /** Id of the first counter; the others follow. Sinks keep the values that they sent in arrays indexed by id. */
  readonly firstId: number;
  /** The full, sanitised name without tags. The name of a rule's series has no `.<stat>`. */
  readonly name: string;
  /** The stats of the series. A single counter has one, the empty string. */
  readonly stats: readonly string[];
  /** Tags of the name itself, as in `multiget.__code=success`. */
  readonly tags: readonly Tag[];
  readonly labels: RuleLabels | undefined;
  /** The current value of a stat, by its index in `stats`. */
  read(stat: number): number;
}

export interface GaugeEntry {
  readonly name: string;
  readonly tags: readonly Tag[];
  /** The labels of a rule's gauge, whose name ends with `stat`. */
  readonly labels?: RuleLabels;
  readonly stat?: string;
  /** Returns NaN if the reader throws. */
  read(): number;
}

export interface TimerEntry {
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly timer: RecordingTimer;
}

/** The view of the statistics for sinks and pages. */
export interface StatisticsView {
  /** `EXTRA_TAGS`, sorted by key. */
  readonly tags: readonly Tag[];
  /** Grows only at the end, so a reader can continue at its index. */
  readonly counters: readonly CounterSeries[];
  readonly gauges: Iterable<GaugeEntry>;
  /** Grows only at the end. */
  readonly timers: readonly TimerEntry[];
  /** The number of counters: one more than the highest id. */
  readonly counterCount: number;
  /** Brings in statistics that other threads counted. Readers wait for it before they read. */
  refresh(): Promise<void>;
  /** Calls `listener` for every existing timer, and for each new one before it records anything. */
  onTimer(listener: (entry: TimerEntry) => void): void;
}

/** Returns the full name of one counter, without tags. */
export function counterName(series: CounterSeries, stat: number): string {
  const name = series.stats[stat]!;
  return name === "" ? series.name : `${series.name}.${name}`;
}

/** The stats of a rule, in the order of its series. */
export const ruleStats = [
  "total_hits",
  "over_limit",
  "near_limit",
  "within_limit",
  "shadow_mode",
  "over_limit_with_local_cache",
  "total_negative_hits",
] as const;

const single = [""] as const;

export class RuleSeries implements CounterSeries, RuleStatistics {
  totalHits = 0;
  overLimit = 0;
  nearLimit = 0;
  withinLimit = 0;
  shadowMode = 0;
  overLimitWithLocalCache = 0;
  totalNegativeHits = 0;
  readonly firstId: number;
  readonly name: string;
  readonly #domain: string;
  readonly #key1: string;
  /** The place of `key2` in the name. */
  readonly #rest: number;

  constructor(firstId: number, prefix: string, domain: string, levels: readonly string[]) {
    this.firstId = firstId;
    this.name = [prefix, domain, ...levels].join(".");
    this.#domain = domain;
    this.#key1 = levels[0] ?? "";
    this.#rest = prefix.length + domain.length + this.#key1.length + 3;
  }

  /** Made for each reader: 100,000 rules would keep 10 MB of them. */
  get labels(): RuleLabels {
    return { domain: this.#domain, key1: this.#key1, key2: this.name.slice(this.#rest) };
  }

  get stats(): typeof ruleStats {
    return ruleStats;
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
      case 5:
        return this.overLimitWithLocalCache;
      default:
        return this.totalNegativeHits;
    }
  }
}

/** The stats of a rule's reservations, in the order of their series. */
export const reservationStats = ["reserved", "released", "expired", "committed"] as const;

export class ReservationSeries implements CounterSeries, ReservationStatistics {
  reserved = 0;
  released = 0;
  expired = 0;
  committed = 0;
  readonly firstId: number;
  readonly name: string;
  readonly labels: RuleLabels;
  readonly tags: readonly Tag[] = [];
  readonly stats: typeof reservationStats = reservationStats;

  constructor(firstId: number, { name, labels }: RuleSeries) {
    this.firstId = firstId;
    this.name = name;
    this.labels = labels;
  }

  /** Hits that this process holds. A hold that another process has ended still counts. */
  get held(): number {
    return this.reserved - this.released - this.expired;
  }

  read(stat: number): number {
    return this[reservationStats[stat]!];
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
    stats: readonly string[] = single,
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

/** A counter whose value a function provides. */
export class ReadSeries implements CounterSeries {
  readonly firstId: number;
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly labels = undefined;
  readonly stats: readonly string[] = single;
  readonly read: () => number;

  constructor(firstId: number, name: string, tags: readonly Tag[], read: () => number) {
    this.firstId = firstId;
    this.name = name;
    this.tags = tags;
    this.read = read;
  }
}

export const notFoundStats = ["domain_not_found"] as const;
