import type { MetricKey } from "../observe/statistics.ts";
import type { Entry, JsonObject, Unit } from "../protocol/messages.ts";
import type { DescriptorPlaces, RequestPlaces } from "../protocol/scan-request.ts";
import type { Limit } from "./limit.ts";

/**
 * A place in a configuration, shown as `file:line:column`. Lines and columns count from 1. Both are 0 for an xDS
 * resource and for a file as a whole.
 */
export interface Location {
  /** The path as the user wrote it, or the name of an xDS resource. */
  readonly file: string;
  /** The line, from 1. 0 without a line. */
  readonly line: number;
  /** The column, from 1. 0 without a line. */
  readonly column: number;
  /** The field of an xDS resource, `descriptors[2].rate_limit`. */
  readonly path?: string;
}

/** The limit of one node of the descriptor tree, or of a request's override. Immutable. */
export interface Rule {
  /** The domain of the configuration. */
  readonly domain: string;
  /** The levels from the top to this rule as the configuration writes them: `key` or `key_value`. */
  readonly path: readonly string[];
  /** 0 to 2^53 - 1; 0 blocks all requests. Unused with `unlimited`. Of the first limit, like `unit`, if there are several. */
  readonly requestsPerUnit: number;
  /** UNKNOWN with `unlimited`. */
  readonly unit: Unit;
  /** Whether every request passes. */
  readonly unlimited: boolean;
  /**
   * The limits of a rule that has several, or one with more settings than a number, a unit and a name. Absent for all
   * other rules.
   */
  readonly limits?: readonly Limit[] | undefined;
  /** Whether requests over the limit are counted and let through. */
  readonly shadowMode: boolean;
  /** The setting `quota_mode`. */
  readonly quotaMode: boolean;
  /** Empty if the rule has no name. */
  readonly name: string;
  /** Names of the limits that this limit replaces. */
  readonly replaces: readonly string[];
  /** The `metadata` of the rule. Undefined without any. */
  readonly metadata: JsonObject | undefined;
  /** The setting `detailed_metric`. */
  readonly detailedMetric: boolean;
  /** The setting `value_to_metric`. */
  readonly valueToMetric: boolean;
  /** The setting `share_threshold`. */
  readonly shareThreshold: boolean;
  /** Absent for a request's override. */
  readonly location: Location | undefined;
}

/** A rule that a descriptor matched, with the parts that depend on the descriptor's values. */
export interface Match {
  /** The rule. */
  readonly rule: Rule;
  /** The name of the rule in statistics. */
  readonly metricKey: MetricKey;
  /** Whether a part of `metricKey` came from the request's values. */
  readonly metricFromRequest: boolean;
  /**
   * For each entry of the descriptor, the pattern that replaces its value in the cache key (`share_threshold`), or
   * undefined to use the value. Undefined as a whole if no level is shared.
   */
  readonly sharedValues: readonly (string | undefined)[] | undefined;
}

/** Results of {@link RulesInPlace.node}: no node, and one that only the texts of the request can find. */
export const NO_NODE = -1;
export const NEEDS_TEXT = -2;

/** Finds nodes from the bytes of a message. */
export interface RulesInPlace {
  /** Returns the number of the message's domain; 0 if it is not configured. */
  domain(places: RequestPlaces): number;
  /** Returns the number of the node that a descriptor leads to, or {@link NO_NODE} or {@link NEEDS_TEXT}. */
  node(domain: number, places: RequestPlaces, descriptor: DescriptorPlaces): number;
}

/** The indexed rules of one load. Immutable: a reload creates a new rule set. */
export interface RuleSet {
  /** Grows by 1 with each load of this process. Caches compare it to detect stale entries. */
  readonly generation: number;
  /** The names of the domains, sorted. */
  readonly domains: readonly string[];
  /** Whether the rules have a domain of that name. */
  hasDomain(domain: string): boolean;
  /** Returns the limit for a descriptor's entries; undefined for no rule, a placeholder, a whitelisted node or another depth. */
  match(domain: string, entries: readonly Entry[]): Match | undefined;
  /** @internal */
  readonly inPlace: RulesInPlace;
  /**
   * Returns the match of a node; undefined if the node has no limit, null if the match depends on the request's values.
   * @internal
   */
  fixedMatch(node: number): Match | undefined | null;
  /** Yields every rule: domains sorted, the rules of each in the order of the configuration. */
  rules(): Iterable<Rule>;
}
