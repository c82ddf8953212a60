import type { Entry, LimitOverride } from "../protocol/messages.ts";
import { printable } from "../text/printable.ts";
import { formatLocation } from "./diagnostic.ts";
import { describeRule, type RuleDescription } from "./dump.ts";
import { explainLevel, type LevelExplanation } from "./explain-level.ts";
import { nearest } from "./nearest.ts";
import { overrideMatch } from "./override.ts";
import type { Match, RuleSet } from "./rule.ts";
import { type IndexedRuleSet, indexOf } from "./rule-set.ts";
import { Level, Node } from "./tree.ts";

export type Outcome =
  /** A rule with a limit. */
  | "limited"
  /** A rule with `unlimited: true`. */
  | "unlimited"
  /** The request's own limit. */
  | "override"
  /** A rule without `rate_limit` and without nested descriptors. */
  | "whitelisted"
  /** A rule without `rate_limit` that only holds nested descriptors. */
  | "placeholder"
  | "no-rule"
  | "domain-not-found";

/** Explains how one descriptor matched a rule, or why it matched none. Plain data that is sent as JSON. */
export interface Explanation {
  readonly domain: string;
  readonly entries: readonly Entry[];
  readonly outcome: Outcome;
  /** The outcome and its reason in a sentence. */
  readonly summary: string;
  /** One for each entry, up to the level where the search ended. */
  readonly levels: readonly LevelExplanation[];
  /** Further hints for the reader. */
  readonly notes: readonly string[];
  readonly rule?: RuleDescription;
  /** The domain and the levels, joined with dots: statistics are `ratelimit.service.rate_limit.<metric key>.<stat>`. */
  readonly metricKey?: string;
}

/** Searches the tree like a lookup and records each step. Counts nothing. */
export function explainMatch(
  ruleSet: RuleSet,
  domain: string,
  entries: readonly Entry[],
  limit?: LimitOverride,
): Explanation {
  const index = indexOf(ruleSet);
  const root = index.steps.domain(domain);
  const base = { domain, entries, notes: [] };
  if (root === 0) {
    const near = nearest(domain, ruleSet.domains);
    const hint = near === undefined ? "" : `: did you mean "${near}"?`;
    const summary = `no limit: the domain "${domain}" is not configured${hint}`;
    return { ...base, outcome: "domain-not-found", summary, levels: [] };
  }
  if (limit !== undefined) {
    const match = overrideMatch(domain, entries, limit);
    const summary = "the request has its own limit, so configured rules do not apply";
    return { ...base, outcome: "override", summary, levels: [], ...found(match) };
  }
  const walk = walkDown(index, root, entries);
  const ending = endOf(walk, entries);
  const match = ending.node && index.matchOf(ending.node.number, entries);
  const notes = ending.outcome === "no-rule" ? unreachedRules(new Level(index, root), entries) : [];
  const { outcome, summary } = ending;
  return { ...base, notes, outcome, summary, levels: walk.levels, ...(match && found(match)) };
}

function found(match: Match): { rule: RuleDescription; metricKey: string } {
  const { domain, levels } = match.metricKey;
  return { rule: describeRule(match.rule), metricKey: [domain, ...levels].join(".") };
}

interface Walk {
  readonly levels: readonly LevelExplanation[];
  /** The chosen nodes, one for each level with a match. */
  readonly nodes: readonly Node[];
}

function walkDown(index: IndexedRuleSet, root: number, entries: readonly Entry[]): Walk {
  const levels: LevelExplanation[] = [];
  const nodes: Node[] = [];
  let level: Level | undefined = new Level(index, root);
  for (const entry of entries) {
    if (level === undefined) break;
    levels.push(explainLevel(level, entry));
    // The same step as in a lookup, so that the explanation cannot differ from it.
    const number = index.steps.step(nodes.at(-1)?.number ?? root, entry.key, entry.value);
    if (number < 0) break;
    const node = new Node(index, number);
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
    const unmatched = levels[nodes.length]?.entry;
    const shown = unmatched === undefined ? "" : ` for \`${unmatched.key}=${unmatched.value}\``;
    return { outcome: "no-rule", summary: `no limit: no rule${shown} at level ${nodes.length + 1}` };
  }
  const where = formatLocation(last.location);
  if (nodes.length < entries.length) {
    const more = entries.length - nodes.length;
    const what = more === 1 ? "1 entry" : `${more} entries`;
    const summary = `no limit: the descriptor has ${what} more than the rules in ${where} have levels`;
    return { outcome: "no-rule", summary };
  }
  if (!last.hasRule) {
    return last.children === undefined
      ? { outcome: "whitelisted", summary: `no limit: the rule (${where}) has no \`rate_limit\`` }
      : { outcome: "placeholder", summary: `no limit: the rule (${where}) only holds nested descriptors` };
  }
  if (last.isUnlimited)
    return { outcome: "unlimited", summary: `unlimited by the rule in ${where}`, node: last };
  return { outcome: "limited", summary: `limited by the rule in ${where}`, node: last };
}

/** Maximum nodes to search for a rule that the lookup did not reach. */
const MAX_SEARCHED = 1000;

/** Finds a limit that a lookup with backtracking would have found. Lookups never backtrack. */
function unreachedRules(top: Level, entries: readonly Entry[]): readonly string[] {
  let left = MAX_SEARCHED;
  const search = (level: Level | undefined, depth: number): Node | undefined => {
    const entry = entries[depth];
    if (entry === undefined || level === undefined) return undefined;
    const { key, value } = entry;
    const candidates = [
      level.exact(key, value),
      ...level.matching(key, printable(value)),
      level.keyOnly(key),
    ];
    for (const node of candidates) {
      if (node === undefined || left-- <= 0) continue;
      const end = depth === entries.length - 1 ? node : search(node.children, depth + 1);
      if (end?.hasRule) return end;
    }
    return undefined;
  };
  const node = search(top, 0);
  if (node === undefined) return [];
  const where = formatLocation(node.location);
  return [
    `the rule in ${where} would match, but the search chose a more specific rule above it and never goes back`,
  ];
}
