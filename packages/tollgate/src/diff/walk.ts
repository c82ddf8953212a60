/**
 * Walks through the rules of two configurations at the same time. A request leads to a pair of places, one in each
 * configuration. The walk finds each reachable pair once, with the first request that leads to it.
 */
import type { Entry } from "../protocol/messages.ts";
import { isPattern } from "../rules/pattern.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { type LevelValues, samplesOf } from "./sample-values.ts";

export interface PlacePair {
  readonly domain: string;
  /** A request that leads to both places. */
  readonly entries: readonly Entry[];
  /** The number of the node in each configuration; negative if there is none. */
  readonly before: number;
  readonly now: number;
}

/** Bounds of the search: pairs of places, and values that are tried. A few seconds. */
const MAX_PAIRS = 1_000_000;
const MAX_STEPS = 20_000_000;

export class Walk {
  readonly #before: IndexedRuleSet;
  readonly #now: IndexedRuleSet;
  readonly #onPair: (pair: PlacePair) => void;
  readonly #visited = new Set<string>();
  #isComplete = true;
  #steps = 0;

  constructor(before: IndexedRuleSet, now: IndexedRuleSet, onPair: (pair: PlacePair) => void) {
    this.#before = before;
    this.#now = now;
    this.#onPair = onPair;
  }

  /** Whether all pairs were visited. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  run(): void {
    for (const domain of new Set([...this.#before.domains, ...this.#now.domains])) {
      const roots = [this.#before, this.#now].map((set) => set.steps.domain(domain) || -1);
      this.#visit({ domain, entries: [], before: roots[0]!, now: roots[1]! });
    }
  }

  #visit(pair: PlacePair): void {
    const id = `${pair.before} ${pair.now}`;
    if (this.#visited.has(id)) return;
    if (this.#visited.size >= MAX_PAIRS || this.#steps >= MAX_STEPS) {
      this.#isComplete = false;
      return;
    }
    this.#visited.add(id);
    if (pair.entries.length > 0) this.#onPair(pair);
    const before = levelOf(this.#before, pair.before);
    const now = levelOf(this.#now, pair.now);
    for (const key of new Set([...before.keys(), ...now.keys()])) {
      const { values, isComplete } = samplesOf(before.get(key) ?? nothing, now.get(key) ?? nothing);
      if (!isComplete) this.#isComplete = false;
      this.#steps += values.size;
      for (const value of values) {
        const next = {
          domain: pair.domain,
          entries: [...pair.entries, { key, value }],
          before: step(this.#before, pair.before, key, value),
          now: step(this.#now, pair.now, key, value),
        };
        if (next.before >= 0 || next.now >= 0) this.#visit(next);
      }
    }
  }
}

const nothing: LevelValues = { exact: new Set(), patterns: new Set(), hasKeyOnly: false };

function step({ steps }: IndexedRuleSet, level: number, key: string, value: string): number {
  return level < 0 ? -1 : steps.step(level, key, value);
}

interface Level {
  readonly exact: Set<string>;
  readonly patterns: Set<string>;
  hasKeyOnly: boolean;
}

/** The rules below a node, by key. */
function levelOf({ nodes }: IndexedRuleSet, number: number): ReadonlyMap<string, LevelValues> {
  const level = new Map<string, Level>();
  if (number < 0) return level;
  for (const child of nodes.children(number)) {
    const key = nodes.key(child);
    const value = nodes.value(child);
    let own = level.get(key);
    if (own === undefined) {
      own = { exact: new Set(), patterns: new Set(), hasKeyOnly: false };
      level.set(key, own);
    }
    if (value === undefined) own.hasKeyOnly = true;
    else (isPattern(value) ? own.patterns : own.exact).add(value);
  }
  return level;
}
