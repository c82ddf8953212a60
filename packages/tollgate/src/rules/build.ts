import { Unit } from "../protocol/messages.ts";
import type { DraftDescriptor, DraftDomain, DraftLimit } from "./draft.ts";
import { frozenJson } from "./frozen-json.ts";
import { limitsOf } from "./limit-settings.ts";
import { type MetricLevel, metricLevel } from "./metric-key.ts";
import { isPattern, parsePattern } from "./pattern.ts";
import type { Match, Rule } from "./rule.ts";
import { StepTable } from "./step-table.ts";
import type { KeyNodes, Level, Node } from "./tree.ts";
import { type WildcardEntry, WildcardIndex } from "./wildcards.ts";

/** The data of the levels above a node that its children need. */
interface Path {
  readonly domain: string;
  readonly segments: readonly string[];
  readonly metricLevels: readonly MetricLevel[];
  readonly shared: readonly (string | undefined)[];
}

/** The indexed rules of a domain. */
export interface Domain {
  readonly top: Level;
  /** Nodes by number: in the order of the configuration, parents before children. Index 0 is empty. */
  readonly nodes: readonly (Node | undefined)[];
  readonly steps: StepTable;
}

/** Builds the index of a domain that was checked and has no errors. */
export function buildDomain(draft: DraftDomain): Domain {
  const nodes: (Node | undefined)[] = [undefined];
  const path: Path = { domain: draft.name, segments: [], metricLevels: [], shared: [] };
  const top = buildLevel(draft.descriptors, path, nodes);
  return { top, nodes, steps: new StepTable(top, nodes) };
}

function buildLevel(descriptors: readonly DraftDescriptor[], path: Path, nodes: (Node | undefined)[]): Level {
  const level = new Map<string, KeyNodes>();
  const own = descriptors.map((descriptor) => buildNode(descriptor as Keyed, path, nodes));
  for (const [key, siblings] of Map.groupBy(own, (node) => node.key)) level.set(key, groupNodes(siblings));
  return level;
}

function groupNodes(siblings: readonly Node[]): KeyNodes {
  const exact = new Map<string, Node>();
  const wildcards: WildcardEntry<Node>[] = [];
  let keyOnly: Node | undefined;
  for (const node of siblings) {
    if (node.value === undefined) keyOnly = node;
    else if (isPattern(node.value)) wildcards.push({ pattern: parsePattern(node.value), target: node });
    else exact.set(node.value, node);
  }
  return { exact, wildcards: wildcards.length === 0 ? undefined : new WildcardIndex(wildcards), keyOnly };
}

/** After a check without errors every descriptor has a key. */
type Keyed = DraftDescriptor & { readonly key: string };

function buildNode(descriptor: Keyed, above: Path, nodes: (Node | undefined)[]): Node {
  const number = nodes.push(undefined) - 1;
  const { key, value } = descriptor;
  const path: Path = {
    domain: above.domain,
    segments: [...above.segments, value === undefined ? key : `${key}_${value}`],
    metricLevels: [...above.metricLevels, metricLevel(descriptor)],
    shared: [...above.shared, descriptor.shareThreshold ? value : undefined],
  };
  const limit = descriptor.limit ?? descriptor.limits?.items[0];
  const rule = limit === undefined ? undefined : buildRule(descriptor, limit, path);
  const sharedValues = path.shared.some((one) => one !== undefined) ? Object.freeze(path.shared) : undefined;
  const nested = descriptor.descriptors;
  const node: Node = {
    number,
    key,
    value,
    location: descriptor.at,
    rule,
    metricLevels: path.metricLevels,
    sharedValues,
    match: rule && fixedMatch(rule, path.metricLevels, sharedValues),
    children: nested.length === 0 ? undefined : buildLevel(nested, path, nodes),
  };
  nodes[number] = node;
  return node;
}

function buildRule(descriptor: Keyed, limit: DraftLimit, path: Path): Rule {
  const unlimited = limit.unlimited === true;
  const limits = limitsOf(descriptor);
  return Object.freeze({
    domain: path.domain,
    path: Object.freeze(path.segments),
    requestsPerUnit: unlimited || typeof limit.requestsPerUnit !== "number" ? 0 : limit.requestsPerUnit,
    unit: unlimited || typeof limit.unit !== "number" ? Unit.UNKNOWN : limit.unit,
    unlimited,
    ...(limits && { limits }),
    shadowMode: descriptor.shadowMode,
    quotaMode: descriptor.quotaMode,
    // The names of a list belong to its limits, and no rule can replace them.
    name: descriptor.limits === undefined ? limit.name : "",
    replaces: Object.freeze(limit.replaces.map((one) => one.name ?? "")),
    metadata: descriptor.metadata && frozenJson(descriptor.metadata),
    detailedMetric: descriptor.detailedMetric,
    valueToMetric: descriptor.valueToMetric,
    shareThreshold: descriptor.shareThreshold,
    location: descriptor.at,
  });
}

function fixedMatch(
  rule: Rule,
  levels: readonly MetricLevel[],
  sharedValues: Match["sharedValues"],
): Match | undefined {
  const texts: string[] = [];
  for (const { text } of levels) {
    if (text === undefined) return undefined;
    texts.push(text);
  }
  const metricKey = Object.freeze({ domain: rule.domain, levels: Object.freeze(texts) });
  return Object.freeze({ rule, metricKey, metricFromRequest: false, sharedValues });
}
