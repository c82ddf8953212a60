/** Compares two configurations: their limits, and what requests would meet. */
import { createKeyFormat, type KeyFormat } from "../decision/key-format.ts";
import { stemsOf } from "../decision/resolve-limits.ts";
import type { Entry } from "../protocol/messages.ts";
import { describeRule, type RuleDescription } from "../rules/dump.ts";
import { statisticName } from "../rules/limit.ts";
import type { Location, Match, Rule } from "../rules/rule.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { type Direction, directionOf, limitText } from "./limit-text.ts";
import { type PlacePair, Walk } from "./walk.ts";

/** A rule in messages and reports. */
export interface RuleName {
  /** The domain and the levels, joined with dots. */
  readonly key: string;
  readonly location: Location | undefined;
}

export interface Example {
  readonly domain: string;
  readonly entries: readonly Entry[];
}

/** A limit that only one configuration has. */
export interface OneSided {
  readonly rule: RuleName;
  readonly limit: string;
  /** A request that it limits. Undefined if other rules match all its values first. */
  readonly example: Example | undefined;
}

export interface ChangedRule {
  readonly before: RuleName;
  readonly now: RuleName;
  readonly limitBefore: string;
  readonly limitNow: string;
  readonly direction: Direction;
  /** The changed settings, as the configuration names them. */
  readonly settings: readonly ChangedSetting[];
}

export interface ChangedSetting {
  readonly name: string;
  /** JSON; undefined if it is not set. */
  readonly before: string | undefined;
  readonly now: string | undefined;
}

/** Requests that match another rule. */
export interface Rematch {
  /** Undefined if no limit applies. */
  readonly before: RuleName | undefined;
  readonly now: RuleName | undefined;
  readonly example: Example;
}

/** Names that a request has in one configuration only. */
export interface ChangedNames {
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly example: Example;
}

export interface ConfigurationDiff {
  readonly added: readonly OneSided[];
  readonly removed: readonly OneSided[];
  readonly changed: readonly ChangedRule[];
  readonly rematched: readonly Rematch[];
  readonly metricKeys: readonly ChangedNames[];
  /** The counters of these keys start at 0. */
  readonly cacheKeys: readonly ChangedNames[];
  /** False if the configurations have too many overlapping wildcards to try all. */
  readonly isComplete: boolean;
}

export function compareConfigurations(before: IndexedRuleSet, now: IndexedRuleSet): ConfigurationDiff {
  return new Comparison(before, now).run();
}

export function isEmpty({
  added,
  removed,
  changed,
  rematched,
  metricKeys,
  cacheKeys,
}: ConfigurationDiff): boolean {
  return [added, removed, changed, rematched, metricKeys, cacheKeys].every((list) => list.length === 0);
}

class Comparison {
  readonly #before: IndexedRuleSet;
  readonly #now: IndexedRuleSet;
  readonly #oldRules: ReadonlyMap<string, Rule>;
  readonly #newRules: ReadonlyMap<string, Rule>;
  /** Examples by the identity of the rule that a request matches. */
  readonly #examples = { before: new Map<string, Example>(), now: new Map<string, Example>() };
  readonly #rematched = new Map<string, Rematch>();
  readonly #metricKeys = new Map<string, ChangedNames>();
  readonly #cacheKeys = new Map<string, ChangedNames>();
  readonly #keyFormat: KeyFormat = createKeyFormat({ format: "tollgate", prefix: "", backend: "embedded" });

  constructor(before: IndexedRuleSet, now: IndexedRuleSet) {
    this.#before = before;
    this.#now = now;
    this.#oldRules = rulesOf(before);
    this.#newRules = rulesOf(now);
  }

  run(): ConfigurationDiff {
    const walk = new Walk(this.#before, this.#now, (pair) => this.#compare(pair));
    walk.run();
    const changed: ChangedRule[] = [];
    for (const [id, rule] of this.#oldRules) {
      const other = this.#newRules.get(id);
      const change = other && changeOf(rule, other);
      if (change !== undefined) changed.push(change);
    }
    return {
      added: oneSided(this.#newRules, this.#oldRules, this.#examples.now),
      removed: oneSided(this.#oldRules, this.#newRules, this.#examples.before),
      changed,
      rematched: [...this.#rematched.values()],
      metricKeys: [...this.#metricKeys.values()],
      cacheKeys: [...this.#cacheKeys.values()],
      isComplete: walk.isComplete,
    };
  }

  #compare({ domain, entries, before: oldNumber, now: newNumber }: PlacePair): void {
    const old = oldNumber < 0 ? undefined : this.#before.matchOf(oldNumber, entries);
    const own = newNumber < 0 ? undefined : this.#now.matchOf(newNumber, entries);
    const oldId = old && identityOf(old.rule);
    const newId = own && identityOf(own.rule);
    const example = { domain, entries };
    if (oldId !== undefined) keepFirst(this.#examples.before, oldId, example);
    if (newId !== undefined) keepFirst(this.#examples.now, newId, example);
    if (oldId !== newId && this.#isRematch(oldId, newId)) {
      const rematch = { before: old && nameOf(old.rule), now: own && nameOf(own.rule), example };
      keepFirst(this.#rematched, `${oldId}\n${newId}`, rematch);
    }
    if (old === undefined || own === undefined) return;
    const id = `${oldId}\n${newId}`;
    keepChange(this.#metricKeys, id, metricKeysOf(old), metricKeysOf(own), example);
    keepChange(
      this.#cacheKeys,
      id,
      this.#cacheKeysOf(old, example),
      this.#cacheKeysOf(own, example),
      example,
    );
  }

  /** Whether the pair says more than the list of added and removed limits. */
  #isRematch(oldId: string | undefined, newId: string | undefined): boolean {
    if (oldId !== undefined && newId !== undefined) return true;
    return oldId === undefined ? this.#oldRules.has(newId!) : this.#newRules.has(oldId);
  }

  #cacheKeysOf(match: Match, { domain, entries }: Example): readonly string[] {
    const { rule } = match;
    if (rule.unlimited) return [];
    if (rule.limits !== undefined) return stemsOf(this.#keyFormat, domain, entries, match);
    return [this.#keyFormat(domain, entries, match, rule.unit)];
  }
}

function rulesOf(ruleSet: IndexedRuleSet): ReadonlyMap<string, Rule> {
  return new Map(Array.from(ruleSet.rules(), (rule) => [identityOf(rule), rule]));
}

/** Equal for the rules of one place in the tree. */
function identityOf({ domain, path }: Rule): string {
  return JSON.stringify([domain, ...path]);
}

function nameOf(rule: Rule): RuleName {
  return { key: [rule.domain, ...rule.path].join("."), location: rule.location };
}

function keepFirst<Value>(map: Map<string, Value>, id: string, value: Value): void {
  if (!map.has(id)) map.set(id, value);
}

/** Keeps the first change of each pair of rules. Names that only the new configuration has replace none. */
function keepChange(
  map: Map<string, ChangedNames>,
  id: string,
  before: readonly string[],
  now: readonly string[],
  example: Example,
): void {
  const lost = before.filter((name) => !now.includes(name));
  if (lost.length === 0 || now.length === 0) return;
  keepFirst(map, id, { before: lost, now: now.filter((name) => !before.includes(name)), example });
}

/** The metric key of a match, with those of the limits of a list. */
function metricKeysOf({ rule, metricKey: { domain, levels } }: Match): readonly string[] {
  const key = [domain, ...levels].join(".");
  const listed = (rule.limits ?? []).filter(({ isListed }) => isListed);
  return [key, ...listed.map((limit) => `${key}.limit.${statisticName(limit)}`)];
}

function oneSided(
  rules: ReadonlyMap<string, Rule>,
  others: ReadonlyMap<string, Rule>,
  examples: ReadonlyMap<string, Example>,
): readonly OneSided[] {
  return [...rules]
    .filter(([id]) => !others.has(id))
    .map(([id, rule]) => ({ rule: nameOf(rule), limit: limitText(rule), example: examples.get(id) }));
}

function changeOf(before: Rule, now: Rule): ChangedRule | undefined {
  const settings = changedSettings(describeRule(before), describeRule(now));
  if (settings.length === 0) return undefined;
  return {
    before: nameOf(before),
    now: nameOf(now),
    limitBefore: limitText(before),
    limitNow: limitText(now),
    direction: directionOf(before, now),
    settings,
  };
}

function changedSettings(before: RuleDescription, now: RuleDescription): readonly ChangedSetting[] {
  const { key: _, location: _old, ...old } = before;
  const { key: __, location: _new, ...own } = now;
  const text = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
  const oldTexts = new Map(Object.entries(old).map(([name, value]) => [name, text(value)]));
  const newTexts = new Map(Object.entries(own).map(([name, value]) => [name, text(value)]));
  return [...new Set([...oldTexts.keys(), ...newTexts.keys()])]
    .map((name) => ({ name, before: oldTexts.get(name), now: newTexts.get(name) }))
    .filter((setting) => setting.before !== setting.now);
}
