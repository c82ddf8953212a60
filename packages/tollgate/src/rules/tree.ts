import type { MetricLevel } from "./metric-key.ts";
import type { Location, Match, Rule } from "./rule.ts";
import type { WildcardIndex } from "./wildcards.ts";

/** One indexed descriptor of the configuration. */
export interface Node {
  /** Counts from 1 within the domain, parents before children. */
  readonly number: number;
  readonly key: string;
  /** Undefined for a key-only rule. */
  readonly value: string | undefined;
  readonly location: Location;
  /** Undefined for a placeholder and for a whitelisted node. */
  readonly rule: Rule | undefined;
  /** The levels from the top to this node. */
  readonly metricLevels: readonly MetricLevel[];
  readonly sharedValues: readonly (string | undefined)[] | undefined;
  /** The match, if no part of it depends on a request's values. */
  readonly match: Match | undefined;
  readonly children: Level | undefined;
}

/** The nodes of one level by key. */
export type Level = ReadonlyMap<string, KeyNodes>;

/** The nodes of one level with the same key. Keys and values are separate: the key `a_b` differs from `a` with value `b`. */
export interface KeyNodes {
  readonly exact: ReadonlyMap<string, Node>;
  readonly wildcards: WildcardIndex<Node> | undefined;
  readonly keyOnly: Node | undefined;
}
