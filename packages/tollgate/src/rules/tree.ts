import type { Entry } from "../protocol/messages.ts";
import type { MetricLevel } from "./metric-key.ts";
import type { Location, Match, Rule } from "./rule.ts";
import type { WildcardIndex } from "./wildcards.ts";

/** One descriptor of the configuration, indexed. */
export interface Node {
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

/** The most specific node of a level for an entry. What is chosen is final: its siblings are not tried again. */
export function findNode(level: Level, entry: Entry): Node | undefined {
  const nodes = level.get(entry.key);
  if (nodes === undefined) return undefined;
  return nodes.exact.get(entry.value) ?? nodes.wildcards?.find(entry.value) ?? nodes.keyOnly;
}
