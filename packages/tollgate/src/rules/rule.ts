import type { MetricKey } from "../observe/statistics.ts";
import type { Entry, JsonObject, Unit } from "../protocol/messages.ts";

/**
 * Where something stands in a configuration: for messages, `file:line:column`. Lines and columns count from 1; both
 * are 0 where there are none: in an xDS resource, or for a file as a whole.
 */
export interface Location {
  /** A path as the user wrote it, or the name of an xDS resource. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** In an xDS resource: the field, `descriptors[2].rate_limit`. */
  readonly path?: string;
}

/** The limit of one node of the descriptor tree, or of a request's override. Never written to after it was made. */
export interface Rule {
  readonly domain: string;
  /** The levels down to here as the configuration writes them: `key` or `key_value`. */
  readonly path: readonly string[];
  /** uint32; 0 blocks all. Unused where `unlimited`. */
  readonly requestsPerUnit: number;
  /** UNKNOWN where `unlimited`. */
  readonly unit: Unit;
  readonly unlimited: boolean;
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  /** Empty where none is given. */
  readonly name: string;
  /** Names of the limits that this one replaces. */
  readonly replaces: readonly string[];
  readonly metadata: JsonObject | undefined;
  readonly detailedMetric: boolean;
  readonly valueToMetric: boolean;
  readonly shareThreshold: boolean;
  /** Absent for a request's override. */
  readonly location: Location | undefined;
}

/** A rule that a descriptor matched, with what depends on the descriptor's values. */
export interface Match {
  readonly rule: Rule;
  readonly metricKey: MetricKey;
  /** Whether a part of `metricKey` came from the request's values. */
  readonly metricFromRequest: boolean;
  /**
   * Per entry of the descriptor: the pattern that stands in for its value in the cache key (`share_threshold`),
   * or undefined to use the value. Undefined as a whole where no level is shared.
   */
  readonly sharedValues: readonly (string | undefined)[] | undefined;
}

/** All rules of one load, indexed. Immutable: a reload makes another one. */
export interface RuleSet {
  /** Grows by 1 with each load of this process; tells caches that what they hold is stale. */
  readonly generation: number;
  readonly domains: readonly string[];
  hasDomain(domain: string): boolean;
  /** The limit for a descriptor's entries, or undefined: no rule, a placeholder, a whitelisted node, another depth. */
  match(domain: string, entries: readonly Entry[]): Match | undefined;
  /** Every rule, domains sorted, each in the order of its configuration. */
  rules(): Iterable<Rule>;
}
