import type { MetricLevel } from "./metric-key.ts";
import type { Location, Match, Rule } from "./rule.ts";
import type { WildcardIndex } from "./wildcards.ts";

/** One descriptor of the configuration, indexed. */
export interface Node {
  /** From 1, parents before children; one number for each node of the domain. */
  readonly number: number;
  readonly key: string;
  /** Undefined for a key-only rule. */
  readonly value: string | undefined;
  readonly location: Location;
  /** Undefined for a placeholder and for a whitelisted node. */
  readonly rule: Rule | undefined;
  /** The levels from the top down to here. */
  readonly metricLevels: readonly MetricLevel[];
  readonly sharedValues: readonly (string | undefined)[] | undefined;
  /** The match itself where no part of it depends on a request's values. */
  readonly match: Match | undefined;
  readonly children: Level | undefined;
}

/** The nodes of one level by key. */
export type Level = ReadonlyMap<string, KeyNodes>;

/** The nodes of one level that have the same key. Key and value are kept apart: `a_b` is never the same as `a` with `b`. */
export interface KeyNodes {
  readonly exact: ReadonlyMap<string, Node>;
  readonly wildcards: WildcardIndex<Node> | undefined;
  readonly keyOnly: Node | undefined;
}
