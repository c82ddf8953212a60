import { sanitise } from "../observe/names.ts";
import type { Registry } from "../observe/registry.ts";
import { RuleSeries } from "../observe/series.ts";
import { sortInTurns } from "../observe/yielding.ts";
import { inTurns } from "../rules/install-rules.ts";
import { type Limit, statisticName } from "../rules/limit.ts";
import type { MetricLevel } from "../rules/metric-key.ts";
import type { Rule } from "../rules/rule.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";

/** A rule whose metric keys depend on requests. */
export interface DynamicRule {
  readonly number: number;
  /** The domain and the levels, joined by dots, as the configuration writes them. */
  readonly key: string;
  /** The fixed texts of a key, between its variable parts: a key matches as `first*second*last`. */
  readonly pieces: readonly string[];
}

/** Levels of a list's limit in metric keys: `<key>.limit.<name>`. */
const LIMIT = "limit";

/** Finds the configured rule of a series of statistics. */
export class RuleIndex {
  readonly ruleSet: IndexedRuleSet;
  /** The number of configured rules. */
  readonly size: number;
  readonly #rules = new Map<RuleSeries, number>();
  /** The limit of a list whose refusals a series counts. */
  readonly #limits = new Map<RuleSeries, Limit>();
  readonly #dynamic = new Map<string, DynamicRule[]>();
  /** The results of {@link numberOf} for dynamic rules. */
  readonly #found = new WeakMap<RuleSeries, number>();
  /** Sorted by name. */
  #sorted: readonly RuleSeries[] = [];

  private constructor(ruleSet: IndexedRuleSet) {
    this.ruleSet = ruleSet;
    this.size = ruleSet.size;
  }

  /** Reads a rule set in short turns of the event loop. */
  static async create(ruleSet: IndexedRuleSet, registry: Registry): Promise<RuleIndex> {
    const index = new RuleIndex(ruleSet);
    await inTurns(numbersOf(ruleSet), (number) => index.#add(number, registry));
    index.#sorted = await sortInTurns([...index.#rules.keys()], byName);
    return index;
  }

  /** The configured rules with a fixed metric key, sorted by it. */
  get sorted(): readonly RuleSeries[] {
    return this.#sorted;
  }

  /** Those whose statistics are kept by value. */
  get dynamicRules(): Iterable<DynamicRule> {
    return [...this.#dynamic.values()].flat();
  }

  numberOf(series: RuleSeries): number | undefined {
    const known = this.#rules.get(series) ?? this.#found.get(series);
    if (known !== undefined) return known;
    const found = this.#dynamicRule(series);
    if (found !== undefined) this.#found.set(series, found);
    return found;
  }

  /** The limit of a list whose refusals a series counts. */
  limitOf(series: RuleSeries): Limit | undefined {
    return this.#limits.get(series);
  }

  rule(number: number): Rule {
    return this.ruleSet.nodes.rule(number);
  }

  #add(number: number, registry: Registry): void {
    const { nodes } = this.ruleSet;
    const domain = nodes.domain(number);
    const metricLevels = nodes.metricLevels(number);
    if (metricLevels.some(({ text }) => text === undefined)) {
      const known = this.#dynamic.get(sanitise(domain));
      const key = [domain, ...nodes.rule(number).path].map(sanitise).join(".");
      const dynamic = { number, key, pieces: piecesOf(metricLevels) };
      if (known === undefined) this.#dynamic.set(sanitise(domain), [dynamic]);
      else known.push(dynamic);
      return;
    }
    const levels = metricLevels.map(({ text }) => text!);
    this.#set({ domain, levels }, number, registry);
    for (const limit of nodes.rule(number).limits ?? [])
      if (limit.isListed) {
        const series = this.#set(
          { domain, levels: [...levels, LIMIT, statisticName(limit)] },
          number,
          registry,
        );
        if (series !== undefined) this.#limits.set(series, limit);
      }
  }

  /** Returns the series of a key; undefined if it has a rule already. */
  #set(
    key: { domain: string; levels: readonly string[] },
    number: number,
    registry: Registry,
  ): RuleSeries | undefined {
    const series = registry.rule(key, false);
    // Rules with the same metric key share their statistics: the row is that of the first one.
    if (!(series instanceof RuleSeries) || this.#rules.has(series)) return undefined;
    this.#rules.set(series, number);
    return series;
  }

  #dynamicRule({ labels }: RuleSeries): number | undefined {
    const key = labels.key2 === "" ? labels.key1 : `${labels.key1}.${labels.key2}`;
    const matching = this.#dynamic.get(labels.domain)?.filter(({ pieces }) => matchesPieces(key, pieces));
    // `tenant_a.path` matches `tenant`, too: the longest rule is meant.
    return matching?.reduce((best, rule) => (literals(rule) > literals(best) ? rule : best), matching[0]!)
      ?.number;
  }
}

function* numbersOf({ nodes }: IndexedRuleSet): Generator<number> {
  for (let number = 1; number < nodes.size; number++) if (nodes.hasRule(number)) yield number;
}

function piecesOf(levels: readonly MetricLevel[]): string[] {
  const pieces = [""];
  levels.forEach(({ key, text }, index) => {
    const dot = index === 0 ? "" : ".";
    pieces[pieces.length - 1] += dot + sanitise(text ?? key);
    if (text === undefined) pieces.push("");
  });
  return pieces;
}

/** Whether a text consists of the pieces, in order, with any text between them. */
export function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (!text.startsWith(first)) return false;
  if (pieces.length === 1) return text === first;
  // `user` begins `user_ann`, not `username`.
  if (first.length < text.length && !"_.".includes(text[first.length]!)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = text.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return from <= end && text.endsWith(last);
}

function literals({ pieces }: DynamicRule): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function byName(a: RuleSeries, b: RuleSeries): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
