import type { Entry } from "../protocol/messages.ts";
import { type DescriptorPlaces, ENTRY_PLACES, type RequestPlaces } from "../protocol/scan-request.ts";
import { buildDomain, type Domain } from "./build.ts";
import type { DraftDomain } from "./draft.ts";
import { requestSegment, shownLevels } from "./metric-key.ts";
import { type Match, NEEDS_TEXT, type Rule, type RuleSet } from "./rule.ts";
import { STEP_NEEDS_TEXT } from "./step-table.ts";
import { TextIds } from "./text-ids.ts";
import type { Node } from "./tree.ts";

let generations = 0;

/** The source of a rule set: checked plain data. Other threads receive it and build the same rule set from it. */
export type RuleDrafts = readonly DraftDomain[];

/** The indexed rules of one load. */
export class IndexedRuleSet implements RuleSet {
  readonly generation = ++generations;
  readonly domains: readonly string[];
  readonly drafts: RuleDrafts;
  readonly #domains = new Map<string, Domain>();
  readonly #names = new TextIds();
  /** By the number of the name. */
  readonly #byName: (Domain | undefined)[] = [];

  /** @param drafts checked, without errors, each domain once */
  constructor(drafts: RuleDrafts) {
    this.drafts = drafts;
    for (const draft of drafts) {
      const domain = buildDomain(draft);
      this.#domains.set(draft.name, domain);
      this.#byName[this.#names.add(draft.name)] = domain;
    }
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
      const { key, value } = entries[index]!;
      number = steps.step(number, key, value);
      if (number < 0) return undefined;
    }
    const node = nodes[number];
    return node === undefined ? undefined : matchOf(node, entries);
  }

  matchInPlace(places: RequestPlaces, descriptor: DescriptorPlaces): Match | typeof NEEDS_TEXT | undefined {
    const domain = this.#byName[this.#names.find(places.buffer, places.domainStart, places.domainEnd)];
    if (domain === undefined) return NEEDS_TEXT;
    const { steps, nodes } = domain;
    const { firstEntry } = descriptor;
    let number = 0;
    for (let index = 0; index < descriptor.entries; index++) {
      number = steps.stepInPlace(number, places, (firstEntry + index) * ENTRY_PLACES);
      if (number < 0) return number === STEP_NEEDS_TEXT ? NEEDS_TEXT : undefined;
    }
    const node = nodes[number];
    if (node === undefined) return undefined;
    return node.match ?? (node.rule === undefined ? undefined : NEEDS_TEXT);
  }

  /** Yields the matches that do not depend on a request's values. Their statistics can be created with the rules. */
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

/** Returns the match of a node for the entries that led to it; undefined if the node has no limit. */
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

/** Returns a domain's tree, for explanations. */
export function domainOf(ruleSet: RuleSet, domain: string): Domain | undefined {
  if (!(ruleSet instanceof IndexedRuleSet)) {
    throw new TypeError("the rule set must come from loadRules or loadResources");
  }
  return ruleSet.domain(domain);
}
