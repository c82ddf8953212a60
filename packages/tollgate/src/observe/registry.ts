import { KeyBudget } from "./key-budget.ts";
import { boundedKey, boundedText, identityOf, isCut } from "./name-parts.ts";
import { cut, cutParts, MAX_NAME_BYTES, sanitise, sortTags, splitTags, type Tag } from "./names.ts";
import {
  type CounterSeries,
  type GaugeEntry,
  notFoundStats,
  ReadSeries,
  ReservationSeries,
  RuleSeries,
  reservationStats,
  ruleStats,
  SingleSeries,
  type StatisticsView,
  type TimerEntry,
} from "./series.ts";
import {
  type Counter,
  type GaugeReader,
  type MetricKey,
  type ReservationStatistics,
  type RuleStatistics,
  type Statistics,
  type Timer,
  uncounted,
} from "./statistics.ts";
import { type SnapshotOptions, snapshot } from "./stats-page.ts";
import { RecordingTimer } from "./timer.ts";

export interface RegistryOptions {
  /** `EXTRA_TAGS`: tags of every statistic, in every sink. Default: none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** `STATS_MAX_DYNAMIC_KEYS`: maximum number of keys from requests, of 256 bytes on average. Default 100,000. */
  readonly maxDynamicKeys?: number;
  /** Replaces `kvstore` in names: `redis` if `REDIS_*` settings configured the store. */
  readonly kvstoreName?: string;
  /** Replaces `objcache` in names: `memcache` if `MEMCACHE_*` settings configured the store. */
  readonly objcacheName?: string;
}

/** All statistics: the side that counts, and the view for sinks and pages. */
export interface Registry extends Statistics, StatisticsView {
  /** Calls `update` before each read of the statistics. Readers wait for it. */
  beforeRead(update: () => Promise<void>): void;
  /**
   * Yields the page `/stats` in pieces, with live values, independent of the sinks. Yields to other work between
   * pieces: it never stalls a decision.
   * @throws {FilterError} at once
   */
  snapshot(options?: SnapshotOptions): AsyncIterable<string>;
}

const RULE_PREFIX = "ratelimit.service.rate_limit";
const LONGEST_STAT = Math.max(...ruleStats.map((stat) => stat.length), "domain_not_found".length);
const MAX_KEY_BYTES = MAX_NAME_BYTES - RULE_PREFIX.length - LONGEST_STAT - 2;
/** Bounds the keys of configurations, so that reloads with new names cannot fill the memory over time. */
const MAX_CONFIGURED_KEYS = 1_000_000;
const OTHER = "_other";

class StatisticsRegistry implements Registry {
  readonly tags: readonly Tag[];
  readonly counters: CounterSeries[] = [];
  readonly timers: TimerEntry[] = [];
  counterCount = 0;
  readonly #kvstore: string;
  readonly #objcache: string;
  readonly #gauges: Map<string, GaugeEntry> = new Map();
  readonly #singles: Map<string, SingleSeries> = new Map();
  readonly #timers: Map<string, TimerEntry> = new Map();
  /** Rules by the identity of the sanitised and cut key. */
  readonly #rules: Map<string, RuleSeries> = new Map();
  /** Rules by the identity of the bounded key, if it differs from the sanitised one. */
  readonly #aliases: Map<string, RuleSeries> = new Map();
  readonly #reservations: Map<RuleStatistics, ReservationSeries> = new Map();
  readonly #notFound: Map<string, SingleSeries> = new Map();
  readonly #timerListeners: ((entry: TimerEntry) => void)[] = [];
  readonly #updates: (() => Promise<void>)[] = [];
  /** Keys of rules and unknown domains that came from requests. */
  readonly #dynamic: KeyBudget;
  readonly #aliasBudget: KeyBudget;
  #configured = 0;

  constructor(options: RegistryOptions) {
    this.tags = sortTags(options.tags ?? {});
    const maxDynamicKeys = options.maxDynamicKeys ?? 100_000;
    this.#dynamic = new KeyBudget(maxDynamicKeys);
    this.#aliasBudget = new KeyBudget(maxDynamicKeys);
    this.#kvstore = options.kvstoreName ?? "kvstore";
    this.#objcache = options.objcacheName ?? "objcache";
    this.gauge("ratelimit.statistics.dynamic_keys", () => this.#dynamic.keys);
  }

  beforeRead(update: () => Promise<void>): void {
    this.#updates.push(update);
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#updates.map((update) => update()));
  }

  get gauges(): Iterable<GaugeEntry> {
    return this.#gauges.values();
  }

  rule(key: MetricKey, fromRequest: boolean): RuleStatistics {
    const bounded = boundedKey(key);
    if (key.isLimit && isCut(key, bounded)) return uncounted;
    const alias = identityOf(bounded);
    return this.#rules.get(alias) ?? this.#aliases.get(alias) ?? this.#makeRule(bounded, alias, fromRequest);
  }

  #makeRule(key: MetricKey, alias: string, fromRequest: boolean): RuleStatistics {
    const parts = [key.domain, ...key.levels].map(sanitise);
    const kept = cutParts(parts, MAX_KEY_BYTES);
    // The rest of its name may be that of its rule.
    if (key.isLimit && kept !== parts) return uncounted;
    const [domain, ...levels] = kept;
    const isSame =
      kept === parts && domain === key.domain && levels.every((level, at) => level === key.levels[at]);
    const identity = isSame ? alias : identityOf({ domain: domain!, levels });
    let series = this.#rules.get(identity);
    if (series === undefined) {
      if (!this.#admits(identity, fromRequest)) return key.isLimit ? uncounted : this.#other(domain!);
      series = this.#addRule(identity, domain!, levels);
    }
    if (alias !== identity && this.#aliasBudget.take(alias)) this.#aliases.set(alias, series);
    return series;
  }

  #admits(identity: string, fromRequest: boolean): boolean {
    if (fromRequest) return this.#dynamic.take(identity);
    if (this.#configured >= MAX_CONFIGURED_KEYS) return false;
    this.#configured++;
    return true;
  }

  /** Series for keys beyond the bound. There is one for each configured domain, so their number is bounded too. */
  #other(domain: string): RuleSeries {
    const identity = identityOf({ domain, levels: [OTHER] });
    return this.#rules.get(identity) ?? this.#addRule(identity, domain, [OTHER]);
  }

  #addRule(identity: string, domain: string, levels: readonly string[]): RuleSeries {
    const series = new RuleSeries(this.#takeIds(ruleStats.length), RULE_PREFIX, domain, levels);
    this.#rules.set(identity, series);
    this.counters.push(series);
    return series;
  }

  reservationsOf(rule: RuleStatistics): ReservationStatistics {
    const known = this.#reservations.get(rule);
    if (known !== undefined) return known;
    if (!(rule instanceof RuleSeries)) throw new TypeError("these statistics are not those of a rule");
    const series = new ReservationSeries(this.#takeIds(reservationStats.length), rule);
    this.#reservations.set(rule, series);
    this.counters.push(series);
    const name = `${rule.name}.held`;
    this.#gauges.set(name, { name, tags: [], labels: rule.labels, stat: "held", read: () => series.held });
    return series;
  }

  domainNotFound(domain: string): Counter {
    const name = cut(sanitise(boundedText(domain)), MAX_KEY_BYTES);
    const known = this.#notFound.get(name);
    if (known !== undefined) return known;
    if (name !== OTHER && !this.#dynamic.take(name)) return this.domainNotFound(OTHER);
    const labels = { domain: name, key1: "", key2: "" };
    const series = new SingleSeries(this.#takeIds(1), `${RULE_PREFIX}.${name}`, [], labels, notFoundStats);
    this.#notFound.set(name, series);
    this.counters.push(series);
    return series;
  }

  counter(name: string): Counter {
    const known = this.#singles.get(name);
    if (known !== undefined) return known;
    const { name: full, tags } = this.#serviceName(name);
    const series = new SingleSeries(this.#takeIds(1), full, tags);
    this.#singles.set(name, series);
    this.counters.push(series);
    return series;
  }

  counterFrom(name: string, read: () => number): void {
    const { name: full, tags } = this.#serviceName(name);
    this.counters.push(new ReadSeries(this.#takeIds(1), full, tags, read));
  }

  gauge(name: string, read: GaugeReader): void {
    this.#gauges.set(name, { ...this.#serviceName(name), read: () => readSafely(read) });
  }

  timer(name: string): Timer {
    const known = this.#timers.get(name);
    if (known !== undefined) return known.timer;
    const entry = { ...this.#serviceName(name), timer: new RecordingTimer() };
    this.#timers.set(name, entry);
    this.timers.push(entry);
    for (const listener of this.#timerListeners) listener(entry);
    return entry.timer;
  }

  onTimer(listener: (entry: TimerEntry) => void): void {
    this.#timerListeners.push(listener);
    for (const entry of this.timers) listener(entry);
  }

  snapshot(options: SnapshotOptions = {}): AsyncIterable<string> {
    return snapshot(this, options);
  }

  /** Renames stores in the service's own names only: a domain with the name `kvstore` keeps it. */
  #serviceName(name: string): { name: string; tags: readonly Tag[] } {
    const split = splitTags(name);
    const renamed = split.name.replaceAll("kvstore", this.#kvstore).replaceAll("objcache", this.#objcache);
    return { name: cut(sanitise(renamed), MAX_NAME_BYTES), tags: split.tags };
  }

  #takeIds(count: number): number {
    const first = this.counterCount;
    this.counterCount += count;
    return first;
  }
}

function readSafely(read: GaugeReader): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

/** Creates an empty registry. */
export function createStatistics(options: RegistryOptions = {}): Registry {
  return new StatisticsRegistry(options);
}
