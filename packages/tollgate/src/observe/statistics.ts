/**
 * The interfaces for counting. To count is to add to a plain number field (3 ns). The registry handles names, labels
 * and sinks, which cost nothing until a flush or a scrape.
 */

/** A number that only grows. */
export interface Counter {
  value: number;
}

/** Returns the current value of a gauge. Called for each flush, scrape or page. */
export type GaugeReader = () => number;

/** Durations, in milliseconds. */
export interface Timer {
  /** @param times how often this duration occurred. Default 1. */
  record(milliseconds: number, times?: number): void;
}

/** The metric key of a rule's statistics, in parts, so that labels never come from a split name. */
export interface MetricKey {
  readonly domain: string;
  /** One segment for each level (`key`, `key_value`), unsanitised; empty for an override without entries. */
  readonly levels: readonly string[];
  /**
   * Whether it is one limit of a list. Without a name of its own, nothing counts its hits: the rule's statistics have
   * them already.
   */
  readonly isLimit?: true;
}

/** The statistics of a rule without hits. */
export function newRuleStatistics(): RuleStatistics {
  return {
    totalHits: 0,
    overLimit: 0,
    nearLimit: 0,
    withinLimit: 0,
    shadowMode: 0,
    overLimitWithLocalCache: 0,
    totalNegativeHits: 0,
  };
}

/** Statistics that no page and no sink shows. */
export const uncounted = newRuleStatistics();

/** The statistics of one metric key: `ratelimit.service.rate_limit.<metric key>.<stat>`. */
export interface RuleStatistics {
  totalHits: number;
  overLimit: number;
  nearLimit: number;
  withinLimit: number;
  shadowMode: number;
  overLimitWithLocalCache: number;
  /** Refunded hits, as a positive number. */
  totalNegativeHits: number;
}

/** The reservations of one metric key, in hits. */
export interface ReservationStatistics {
  reserved: number;
  /** Held hits of reservations that a commit ended. */
  released: number;
  /** Held hits of reservations that ended without a commit. */
  expired: number;
  /** Hits that commits counted. */
  committed: number;
}

export interface Statistics {
  /**
   * Returns the statistics of a metric key; the same object for the same key.
   * @param fromRequest whether a part of the key came from a request. `STATS_MAX_DYNAMIC_KEYS` bounds such keys; keys
   *   beyond it share the key `_other` of their domain. Single limits beyond it have no statistics.
   */
  rule(key: MetricKey, fromRequest: boolean): RuleStatistics;
  /** Returns the reservations of a rule. They appear among the statistics with the first call for the rule. */
  reservationsOf(rule: RuleStatistics): ReservationStatistics;
  /** Returns `ratelimit.service.rate_limit.<domain>.domain_not_found`, with the same bound. */
  domainNotFound(domain: string): Counter;
  /** Returns a counter by its full name, `ratelimit.service.config_load_success`. */
  counter(name: string): Counter;
  /** Adds a counter whose current value `read` returns. */
  counterFrom(name: string, read: () => number): void;
  gauge(name: string, read: GaugeReader): void;
  timer(name: string): Timer;
}
