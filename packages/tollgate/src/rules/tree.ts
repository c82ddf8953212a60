import { matches, type Pattern, parsePattern } from "./pattern.ts";
import type { Location } from "./rule.ts";
import type { IndexedRuleSet } from "./rule-set.ts";

/** A node of a rule set as explanations see it. Made when it is asked for. */
export class Node {
  readonly number: number;
  readonly #rules: IndexedRuleSet;

  constructor(rules: IndexedRuleSet, number: number) {
    this.#rules = rules;
    this.number = number;
  }

  /** Undefined for a key-only rule. */
  get value(): string | undefined {
    return this.#rules.nodes.value(this.number);
  }

  get location(): Location {
    return this.#rules.nodes.location(this.number);
  }

  /** False for a placeholder and for a whitelisted node. */
  get hasRule(): boolean {
    return this.#rules.nodes.hasRule(this.number);
  }

  get isUnlimited(): boolean {
    return this.#rules.nodes.isUnlimited(this.number);
  }

  get children(): Level | undefined {
    return this.#rules.nodes.end(this.number) === this.number + 1
      ? undefined
      : new Level(this.#rules, this.number);
  }
}

/** The nodes of one level. Keys and values are separate: the key `a_b` differs from `a` with value `b`. */
export class Level {
  readonly #rules: IndexedRuleSet;
  readonly #number: number;

  /** @param number of the node above */
  constructor(rules: IndexedRuleSet, number: number) {
    this.#rules = rules;
    this.#number = number;
  }

  /** The keys in the order of the configuration. */
  keys(): readonly string[] {
    const { nodes } = this.#rules;
    const seen = new Map<number, number>();
    for (const child of nodes.children(this.#number)) {
      const id = nodes.keyId(child);
      if (!seen.has(id)) seen.set(id, child);
    }
    return Array.from(seen.values(), (child) => nodes.key(child));
  }

  /** Returns the node with exactly this value. */
  exact(key: string, value: string): Node | undefined {
    const number = this.#rules.steps.exact(this.#number, key, value);
    return number === 0 ? undefined : new Node(this.#rules, number);
  }

  /** Returns the explicit values of a key: how many there are, and the first of them. */
  values(key: string, most: number): { readonly count: number; readonly first: readonly string[] } {
    const { nodes, steps } = this.#rules;
    const others = new Set(this.wildcards(key).map(({ target }) => target.number));
    others.add(steps.keyOnly(this.#number, key));
    const first: string[] = [];
    let count = 0;
    let keyId = 0;
    for (const child of nodes.children(this.#number)) {
      if (keyId === 0 && nodes.key(child) === key) keyId = nodes.keyId(child);
      if (keyId === 0 || nodes.keyId(child) !== keyId || others.has(child)) continue;
      if (count++ < most) first.push(nodes.value(child)!);
    }
    return { count, first };
  }

  /** Returns the wildcards of a key, most specific first. */
  wildcards(key: string): readonly { readonly pattern: Pattern; readonly target: Node }[] {
    const { nodes, steps } = this.#rules;
    return steps.wildcards(this.#number, key).map((number) => ({
      pattern: parsePattern(nodes.value(number)!),
      target: new Node(this.#rules, number),
    }));
  }

  /** Returns the nodes whose wildcards match a value, most specific first. */
  matching(key: string, value: string): readonly Node[] {
    return this.wildcards(key)
      .filter(({ pattern }) => matches(pattern, value))
      .map(({ target }) => target);
  }

  keyOnly(key: string): Node | undefined {
    const number = this.#rules.steps.keyOnly(this.#number, key);
    return number === -1 ? undefined : new Node(this.#rules, number);
  }
}
