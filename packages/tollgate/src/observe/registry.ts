import { KeyBudget } from "./key-budget.ts";
import { boundedKey, boundedText, identityOf } from "./name-parts.ts";
import { cut, cutParts, MAX_NAME_BYTES, sanitise, sortTags, splitTags, type Tag } from "./names.ts";
import {
  type CounterSeries,
  type GaugeEntry,
  NOT_FOUND_STATS,
  ReadSeries,
  RULE_STATS,
  RuleSeries,
  SingleSeries,
  type StatisticsView,
  type TimerEntry,
} from "./series.ts";
import { type SnapshotOptions, snapshot } from "./snapshot.ts";
import type { Counter, GaugeReader, MetricKey, RuleStatistics, Statistics, Timer } from "./statistics.ts";
import { RecordingTimer } from "./timer.ts";

export interface RegistryOptions {
  /** `EXTRA_TAGS`: on every statistic, in every sink. Default none. */
  readonly tags?: Readonly<Record<string, string>>;
  /** `STATS_MAX_DYNAMIC_KEYS`: how many keys may come from requests, of 256 bytes on average. Default 100,000. */
  readonly maxDynamicKeys?: number;
  /** What stands for `kvstore` in names; `redis` where the store was configured through `REDIS_*`. */
  readonly kvstoreName?: string;
  /** What stands for `objcache` in names; `memcache` where it was configured through `MEMCACHE_*`. */
  readonly objcacheName?: string;
}

/** Everything that is counted, and the way to it for sinks and pages. */
export interface Registry extends Statistics, StatisticsView {
  /** Calls `bring` before statistics are read by anybody, and lets readers wait for it. */
  beforeRead(bring: () => Promise<void>): void;
  /**
   * The page `/stats` in pieces: live values, whatever sinks there are. Works in turns: it never stalls a decision.
   * @throws {FilterError} at once
   */
  snapshot(options?: SnapshotOptions): AsyncIterable<string>;
}

const RULE_PREFIX = "ratelimit.service.rate_limit";
const longestStat = Math.max(...RULE_STATS.map((stat) => stat.length), "domain_not_found".length);
const MAX_KEY_BYTES = MAX_NAME_BYTES - RULE_PREFIX.length - longestStat - 2;
/** Keys of configurations are bounded too, or a year of reloads with ever new names would grow without end. */
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
  /** By the identity of the sanitised and cut key. */
  readonly #rules: Map<string, RuleSeries> = new Map();
  /** By the identity of the bounded key, where that is another text. */
  readonly #aliases: Map<string, RuleSeries> = new Map();
  readonly #notFound: Map<string, SingleSeries> = new Map();
  readonly #timerListeners: ((entry: TimerEntry) => void)[] = [];
  readonly #bringers: (() => Promise<void>)[] = [];
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

  beforeRead(bring: () => Promise<void>): void {
    this.#bringers.push(bring);
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#bringers.map((bring) => bring()));
  }

  get gauges(): Iterable<GaugeEntry> {
    return this.#gauges.values();
  }

  rule(key: MetricKey, fromRequest: boolean): RuleStatistics {
    const bounded = boundedKey(key);
    const asked = identityOf(bounded);
    return this.#rules.get(asked) ?? this.#aliases.get(asked) ?? this.#makeRule(bounded, asked, fromRequest);
  }

  #makeRule(key: MetricKey, asked: string, fromRequest: boolean): RuleSeries {
    const [domain, ...levels] = cutParts([key.domain, ...key.levels].map(sanitise), MAX_KEY_BYTES);
    const identity = identityOf({ domain: domain!, levels });
    let series = this.#rules.get(identity);
    if (series === undefined) {
      if (!this.#admits(identity, fromRequest)) return this.#other(domain!);
      series = this.#addRule(identity, domain!, levels);
    }
    if (asked !== identity && this.#aliasBudget.take(asked)) this.#aliases.set(asked, series);
    return series;
  }

  #admits(identity: string, fromRequest: boolean): boolean {
    if (fromRequest) return this.#dynamic.take(identity);
    if (this.#configured >= MAX_CONFIGURED_KEYS) return false;
    this.#configured++;
    return true;
  }

  /** Counts keys for which there is no room. Its domain is a configured one, so this is bounded too. */
  #other(domain: string): RuleSeries {
    const identity = identityOf({ domain, levels: [OTHER] });
    return this.#rules.get(identity) ?? this.#addRule(identity, domain, [OTHER]);
  }

  #addRule(identity: string, domain: string, levels: readonly string[]): RuleSeries {
    const labels = { domain, key1: levels[0] ?? "", key2: levels.slice(1).join(".") };
    const series = new RuleSeries(
      this.#takeIds(RULE_STATS.length),
      [RULE_PREFIX, domain, ...levels].join("."),
      labels,
    );
    this.#rules.set(identity, series);
    this.counters.push(series);
    return series;
  }

  domainNotFound(domain: string): Counter {
    const name = cut(sanitise(boundedText(domain)), MAX_KEY_BYTES);
    const known = this.#notFound.get(name);
    if (known !== undefined) return known;
    if (name !== OTHER && !this.#dynamic.take(name)) return this.domainNotFound(OTHER);
    const labels = { domain: name, key1: "", key2: "" };
    const series = new SingleSeries(this.#takeIds(1), `${RULE_PREFIX}.${name}`, [], labels, NOT_FOUND_STATS);
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

  /** Stores are renamed in the service's own names only: a domain that is called `kvstore` stays what it is. */
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

/** An empty registry. */
export function createStatistics(options: RegistryOptions = {}): Registry {
  return new StatisticsRegistry(options);
}
