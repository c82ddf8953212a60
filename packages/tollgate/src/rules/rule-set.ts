import type { Entry } from "../protocol/messages.ts";
import { buildDomain, type Domain } from "./build.ts";
import type { DraftDomain } from "./check.ts";
import { requestSegment, shownLevels } from "./metric-key.ts";
import type { Match, Rule, RuleSet } from "./rule.ts";
import type { Node } from "./tree.ts";

let generations = 0;

/** What a rule set is built from: checked plain data, which can be passed to another thread to build the same there. */
export type RuleDrafts = readonly DraftDomain[];

/** All rules of one load behind their indexes. */
export class IndexedRuleSet implements RuleSet {
  readonly generation = ++generations;
  readonly domains: readonly string[];
  readonly drafts: RuleDrafts;
  readonly #domains = new Map<string, Domain>();

  /** @param drafts checked, and without errors; each domain once */
  constructor(drafts: RuleDrafts) {
    this.drafts = drafts;
    for (const draft of drafts) this.#domains.set(draft.name, buildDomain(draft));
    this.domains = Object.freeze([...this.#domains.keys()].sort());
  }

  hasDomain(domain: string): boolean {
    return this.#domains.has(domain);
  }

  /** @internal see {@link domainOf} */
  domain(domain: string): Domain | undefined {
    return this.#domains.get(domain);
  }

  match(domain: string, entries: readonly Entry[]): Match | undefined {
    const found = this.#domains.get(domain);
    if (found === undefined) return undefined;
    const { steps, nodes } = found;
    let number = 0;
    for (let index = 0; index < entries.length; index++) {
      const { key, value } = entries[index];
      number = steps.step(number, key, value);
      if (number < 0) return undefined;
    }
    const node = nodes[number];
    return node === undefined ? undefined : matchOf(node, entries);
  }

  /** The matches that no value of a request changes: their statistics can be made when the rules are loaded. */
  *fixedMatches(): Iterable<Match> {
    for (const { nodes } of this.#domains.values()) {
      for (const node of nodes) if (node?.match !== undefined) yield node.match;
    }
  }

  *rules(): Iterable<Rule> {
    for (const domain of this.domains) {
      for (const node of this.#domains.get(domain)!.nodes) if (node?.rule !== undefined) yield node.rule;
    }
  }
}

/** What a node means for the entries that led to it; undefined where it has no limit. */
export function matchOf(node: Node, entries: readonly Entry[]): Match | undefined {
  const { rule, match } = node;
  if (match !== undefined || rule === undefined) return match;
  const { metricLevels } = node;
  const levels = shownLevels(
    metricLevels.length,
    (index) => metricLevels[index]!.text ?? requestSegment(entries[index]!),
  );
  return {
    rule,
    metricKey: { domain: rule.domain, levels },
    metricFromRequest: true,
    sharedValues: node.sharedValues,
  };
}

/** A domain's tree, for those who show the walk instead of taking it. */
export function domainOf(ruleSet: RuleSet, domain: string): Domain | undefined {
  if (!(ruleSet instanceof IndexedRuleSet)) {
    throw new TypeError("this rule set was not made by loadRules or loadResources");
  }
  return ruleSet.domain(domain);
}
