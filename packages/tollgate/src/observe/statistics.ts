/**
 * What the rest of the service counts with. Counting is adding to a plain number field (3 ns); names, labels and
 * sinks are the registry's business and cost nothing until a flush or a scrape.
 */

/** A number that only grows. */
export interface Counter {
  value: number;
}

/** A number that is read when it is asked for. */
export type GaugeReader = () => number;

/** Durations, in milliseconds. */
export interface Timer {
  /** @param times how often this duration was seen; default once */
  record(milliseconds: number, times?: number): void;
}

/** Whose statistics: the metric key, kept in parts so that labels never come from splitting a name. */
export interface MetricKey {
  readonly domain: string;
  /** One segment a level (`key`, `key_value`), unsanitised; empty for an override without entries. */
  readonly levels: readonly string[];
}

/** The statistics of one metric key: `ratelimit.service.rate_limit.<metric key>.<stat>`. */
export interface RuleStatistics {
  totalHits: number;
  overLimit: number;
  nearLimit: number;
  withinLimit: number;
  shadowMode: number;
  overLimitWithLocalCache: number;
}

export interface Statistics {
  /**
   * The statistics of a metric key; the same object for the same key.
   * @param fromRequest whether a part of the key came from a request: such keys are bounded by
   *   `STATS_MAX_DYNAMIC_KEYS`, and beyond it all share the key `_other` of their domain.
   */
  rule(key: MetricKey, fromRequest: boolean): RuleStatistics;
  /** `ratelimit.service.rate_limit.<domain>.domain_not_found`, bounded likewise. */
  domainNotFound(domain: string): Counter;
  /** A counter by its full name, `ratelimit.service.config_load_success`. */
  counter(name: string): Counter;
  /** A counter that is kept elsewhere: `read` gives its present value. */
  counterFrom(name: string, read: () => number): void;
  gauge(name: string, read: GaugeReader): void;
  timer(name: string): Timer;
}
