import type { Entry, LimitOverride } from "../protocol/messages.ts";
import type { Domain } from "./build.ts";
import { formatLocation } from "./diagnostic.ts";
import { describeRule, type RuleDescription } from "./dump.ts";
import { explainLevel, type LevelExplanation } from "./explain-level.ts";
import { nearest } from "./nearest.ts";
import { overrideMatch } from "./override.ts";
import type { Match, RuleSet } from "./rule.ts";
import { domainOf, matchOf } from "./rule-set.ts";
import type { Level, Node } from "./tree.ts";

export type Outcome =
  /** A rule with a limit. */
  | "limited"
  /** A rule with `unlimited: true`. */
  | "unlimited"
  /** The limit that the request brought along. */
  | "override"
  /** A rule without `rate_limit` and without nested descriptors. */
  | "whitelisted"
  /** A rule without `rate_limit` that only holds nested descriptors. */
  | "placeholder"
  | "no-rule"
  | "domain-not-found";

/** How one descriptor found its rule, or why it found none. Plain data: it goes out as JSON as it is. */
export interface Explanation {
  readonly domain: string;
  readonly entries: readonly Entry[];
  readonly outcome: Outcome;
  /** The outcome and its reason in a sentence. */
  readonly summary: string;
  /** One for each entry, as far as the walk went. */
  readonly levels: readonly LevelExplanation[];
  /** What else the reader may want to know. */
  readonly notes: readonly string[];
  readonly rule?: RuleDescription;
  /** The domain and the levels, joined with dots: statistics are `ratelimit.service.rate_limit.<metric key>.<stat>`. */
  readonly metricKey?: string;
}

/** Walks the tree as a look-up does, and writes down what it sees. Counts nothing. */
export function explainMatch(
  ruleSet: RuleSet,
  domain: string,
  entries: readonly Entry[],
  limit?: LimitOverride,
): Explanation {
  const tree = domainOf(ruleSet, domain);
  const base = { domain, entries, notes: [] };
  if (tree === undefined) {
    const near = nearest(domain, ruleSet.domains);
    const hint = near === undefined ? "" : `: did you mean "${near}"?`;
    const summary = `no limit: the domain "${domain}" is not configured${hint}`;
    return { ...base, outcome: "domain-not-found", summary, levels: [] };
  }
  if (limit !== undefined) {
    const match = overrideMatch(domain, entries, limit);
    const summary = "the request brings its own limit, so no configured rule is looked for";
    return { ...base, outcome: "override", summary, levels: [], ...found(match) };
  }
  const walk = walkDown(tree, entries);
  const ending = endOf(walk, entries);
  const match = ending.node && matchOf(ending.node, entries);
  const notes = ending.outcome === "no-rule" ? otherWays(tree.top, entries) : [];
  const { outcome, summary } = ending;
  return { ...base, notes, outcome, summary, levels: walk.levels, ...(match && found(match)) };
}

function found(match: Match): { rule: RuleDescription; metricKey: string } {
  const { domain, levels } = match.metricKey;
  return { rule: describeRule(match.rule), metricKey: [domain, ...levels].join(".") };
}

interface Walk {
  readonly levels: readonly LevelExplanation[];
  /** The nodes that were chosen, one for each level that had one. */
  readonly nodes: readonly Node[];
}

function walkDown({ top, steps, nodes: all }: Domain, entries: readonly Entry[]): Walk {
  const levels: LevelExplanation[] = [];
  const nodes: Node[] = [];
  let level: Level | undefined = top;
  for (const entry of entries) {
    if (level === undefined) break;
    levels.push(explainLevel(level, entry));
    // The look-up's own step, so that what is explained is what is done.
    const node = all[steps.step(nodes.at(-1)?.number ?? 0, entry.key, entry.value)];
    if (node === undefined) break;
    nodes.push(node);
    level = node.children;
  }
  return { levels, nodes };
}

interface Ending {
  readonly outcome: Outcome;
  readonly summary: string;
  readonly node?: Node;
}

function endOf({ nodes, levels }: Walk, entries: readonly Entry[]): Ending {
  const last = nodes.at(-1);
  if (entries.length === 0) return { outcome: "no-rule", summary: "no limit: the descriptor has no entries" };
  if (nodes.length < levels.length || last === undefined) {
    const { key, value } = entries[nodes.length];
    const summary = `no limit: no rule for \`${key}=${value}\` at level ${nodes.length + 1}`;
    return { outcome: "no-rule", summary };
  }
  const where = formatLocation(last.location);
  if (nodes.length < entries.length) {
    const more = entries.length - nodes.length;
    const what = more === 1 ? "1 entry more" : `${more} entries more`;
    const summary = `no limit: the descriptor has ${what} than the rules below ${where} have levels`;
    return { outcome: "no-rule", summary };
  }
  if (last.rule === undefined) {
    return last.children === undefined
      ? { outcome: "whitelisted", summary: `no limit: the rule (${where}) has no \`rate_limit\`` }
      : { outcome: "placeholder", summary: `no limit: the rule (${where}) only holds nested descriptors` };
  }
  if (last.rule.unlimited)
    return { outcome: "unlimited", summary: `unlimited by the rule in ${where}`, node: last };
  return { outcome: "limited", summary: `limited by the rule in ${where}`, node: last };
}

/** So many nodes are looked at in search of a rule that the walk did not come to. */
const MAX_SEARCHED = 1000;

/** Where going back to a less specific rule would have found a limit: the walk never does. */
function otherWays(top: Level, entries: readonly Entry[]): readonly string[] {
  let left = MAX_SEARCHED;
  const search = (level: Level | undefined, depth: number): Node | undefined => {
    if (depth === entries.length || level === undefined) return undefined;
    const { key, value } = entries[depth];
    const nodes = level.get(key);
    if (nodes === undefined) return undefined;
    const ways = [nodes.exact.get(value), ...(nodes.wildcards?.all(value) ?? []), nodes.keyOnly];
    for (const node of ways) {
      if (node === undefined || left-- <= 0) continue;
      const end = depth === entries.length - 1 ? node : search(node.children, depth + 1);
      if (end?.rule !== undefined) return end;
    }
    return undefined;
  };
  const node = search(top, 0);
  if (node === undefined) return [];
  const where = formatLocation(node.location);
  return [
    `the rule in ${where} would match, but a more specific rule above it was chosen: the search never goes back`,
  ];
}
