import type { MetricKey } from "../observe/statistics.ts";
import type { Entry } from "../protocol/messages.ts";
import type { CompiledRules } from "./compiled-rules.ts";
import { type MetricLevel, requestSegment, shownLevels } from "./metric-key.ts";
import { NodeTable } from "./node-table.ts";
import type { Match, Rule, RuleSet } from "./rule.ts";
import { StepsInPlace } from "./steps-in-place.ts";
import { TextIds } from "./text-ids.ts";
import { TextSteps } from "./text-steps.ts";

let generations = 0;

/** The objects of a rule that a lookup has found. */
interface Opened {
  readonly rule: Rule;
  /** The match, if no part of it depends on a request's values. */
  readonly match: Match | undefined;
  readonly metricLevels: readonly MetricLevel[];
  readonly sharedValues: Match["sharedValues"];
}

/** The indexed rules of one load. Reads compiled rules in place. Makes the objects of a rule when a lookup first finds it. */
export class IndexedRuleSet implements RuleSet {
  readonly generation = ++generations;
  readonly compiled: CompiledRules;
  readonly domains: readonly string[];
  /** @internal for explanations */
  readonly nodes: NodeTable;
  /** @internal for explanations */
  readonly steps: TextSteps;
  readonly inPlace: StepsInPlace;
  /** Opened rules by the number of the node; null if it has no rule. Bounded by the number of nodes. */
  readonly #opened = new Map<number, Opened | null>();

  constructor(compiled: CompiledRules) {
    this.compiled = compiled;
    const texts = new TextIds(compiled.texts);
    this.nodes = new NodeTable(compiled, texts);
    this.steps = new TextSteps(compiled, texts, this.nodes);
    this.inPlace = new StepsInPlace(this.steps);
    this.domains = Object.freeze(Array.from(this.nodes.children(0), (number) => this.nodes.key(number)));
  }

  hasDomain(domain: string): boolean {
    return this.steps.domain(domain) !== 0;
  }

  match(domain: string, entries: readonly Entry[]): Match | undefined {
    const { steps } = this;
    let number = steps.domain(domain);
    if (number === 0 || entries.length === 0) return undefined;
    for (let index = 0; index < entries.length; index++) {
      const { key, value } = entries[index]!;
      number = steps.step(number, key, value);
      if (number < 0) return undefined;
    }
    return this.matchOf(number, entries);
  }

  fixedMatch(node: number): Match | undefined | null {
    const opened = this.#openedAt(node);
    return opened === null ? undefined : (opened.match ?? null);
  }

  /** Returns the match of a node for the entries that led to it; undefined if the node has no limit. */
  matchOf(number: number, entries: readonly Entry[]): Match | undefined {
    const opened = this.#openedAt(number);
    if (opened === null) return undefined;
    const { rule, match, metricLevels, sharedValues } = opened;
    if (match !== undefined) return match;
    const levels = shownLevels(
      metricLevels.length,
      (index) => metricLevels[index]!.text ?? requestSegment(entries[index]!),
    );
    return { rule, metricKey: { domain: rule.domain, levels }, metricFromRequest: true, sharedValues };
  }

  /** Yields the metric keys that do not depend on a request's values. Their statistics can be created with the rules. */
  *fixedMetricKeys(): Generator<MetricKey> {
    const { nodes } = this;
    const keys = new Map<number, string>();
    // The texts from the domain to a node, and the ends of these nodes. Each text is made once: most have nodes below them.
    const texts: (string | undefined)[] = [];
    const ends: number[] = [];
    for (let number = 1; number < nodes.size; number++) {
      while (number >= ends.at(-1)!) {
        ends.pop();
        texts.pop();
      }
      const keyId = nodes.keyId(number);
      const key = keys.get(keyId) ?? nodes.key(number);
      keys.set(keyId, key);
      texts.push(texts.length === 0 ? key : nodes.metricLevel(number, key).text);
      ends.push(nodes.end(number));
      if (nodes.hasRule(number) && isFixed(texts)) yield { domain: texts[0]!, levels: texts.slice(1) };
    }
  }

  /** The number of rules. */
  get size(): number {
    return this.compiled.size;
  }

  *rules(): Generator<Rule> {
    const { nodes } = this;
    for (let number = 1; number < nodes.size; number++) if (nodes.hasRule(number)) yield nodes.rule(number);
  }

  #openedAt(number: number): Opened | null {
    const known = this.#opened.get(number);
    if (known !== undefined) return known;
    const opened = this.#open(number);
    this.#opened.set(number, opened);
    return opened;
  }

  #open(number: number): Opened | null {
    const { nodes } = this;
    if (!nodes.hasRule(number)) return null;
    const rule = nodes.rule(number);
    const metricLevels = nodes.metricLevels(number);
    const sharedValues = nodes.sharedValues(number);
    const levels = fixedTexts(metricLevels);
    const match =
      levels &&
      Object.freeze({
        rule,
        metricKey: Object.freeze({ domain: rule.domain, levels: Object.freeze(levels) }),
        metricFromRequest: false,
        sharedValues,
      });
    return { rule, match, metricLevels, sharedValues };
  }
}

function isFixed(texts: readonly (string | undefined)[]): texts is string[] {
  return !texts.includes(undefined);
}

/** Returns the texts of all levels; undefined if one of them depends on the request. */
function fixedTexts(levels: readonly MetricLevel[]): readonly string[] | undefined {
  const texts: string[] = [];
  for (const { text } of levels) {
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

/** Returns a rule set's tree, for explanations. */
export function indexOf(ruleSet: RuleSet): IndexedRuleSet {
  if (ruleSet instanceof IndexedRuleSet) return ruleSet;
  throw new TypeError("the rule set must come from loadRules or loadResources");
}
