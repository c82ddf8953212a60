import { type CompiledRules, FALLBACK, HAS_EXACT, hashOfStep, NO_VALUE, SLOT } from "./compiled-rules.ts";
import { completed } from "./completed.ts";
import type { NodeTable } from "./node-table.ts";
import { parsePattern } from "./pattern.ts";
import type { TextIds } from "./text-ids.ts";
import { type WildcardEntry, WildcardIndex } from "./wildcards.ts";

/** The nodes of a level and key that are tried if no exact value matches. */
export interface Fallback {
  readonly wildcards: WildcardIndex<number> | undefined;
  /** The key-only node's number, or -1. */
  readonly keyOnly: number;
  /** Whether the level has exact values of the key, too. */
  readonly hasExact: boolean;
}

/**
 * All steps down the trees of all domains, in one hash table of plain numbers. Keys and values have numbers, too. A node's
 * number is also the number of the level below it.
 *
 * One map for each level would be simpler, but a step through a map touches half a dozen places in memory: with 10,000
 * rules in 4 levels a lookup took 4 to 29 times as long as with 10 (`bench/rules`). A step in this table touches one.
 */
export class StepTable {
  readonly texts: TextIds;
  readonly #nodes: NodeTable;
  readonly #slots: Int32Array;
  readonly #mask: number;
  protected readonly fallbacks: Int32Array;
  readonly #wildcards: Int32Array;
  /** Made when a lookup first needs them. Bounded by the number of fallbacks. */
  readonly #made = new Map<number, Fallback>();

  constructor({ slots, fallbacks, wildcards }: CompiledRules, texts: TextIds, nodes: NodeTable) {
    this.texts = texts;
    this.#nodes = nodes;
    this.#slots = slots;
    this.#mask = slots.length / SLOT - 1;
    this.fallbacks = fallbacks;
    this.#wildcards = wildcards;
  }

  /** Returns the target of a slot, or 0 if there is no such slot. */
  target(level: number, key: number, value: number): number {
    const slots = this.#slots;
    let slot = hashOfStep(level, key, value) & this.#mask;
    for (;;) {
      const at = slot * SLOT;
      const target = slots[at + 3]!;
      if (target === 0) return 0;
      if (slots[at] === level && slots[at + 1] === key && slots[at + 2] === value) return target;
      slot = (slot + 1) & this.#mask;
    }
  }

  /** Returns the fallback of a level and key, if there is one. */
  fallback(level: number, key: number): Fallback | undefined {
    const index = this.target(level, key, NO_VALUE) - 1;
    return index < 0 ? undefined : (this.#made.get(index) ?? this.#make(index));
  }

  /** A method of its own: a function with a closure allocates memory whenever it is called. */
  #make(index: number): Fallback {
    return completed(this.#making(index));
  }

  *#making(index: number): Generator<void, Fallback> {
    const at = index * FALLBACK;
    const keyOnly = this.fallbacks[at]!;
    const entries: WildcardEntry<number>[] = [];
    for (const node of this.rangeAt(at)) {
      entries.push({ pattern: parsePattern(this.#nodes.value(node)!), target: node });
      if (entries.length % TURN === 0) yield;
    }
    const wildcards = entries.length === 0 ? undefined : yield* WildcardIndex.make(entries);
    const made = { wildcards, keyOnly, hasExact: this.fallbacks[at + HAS_EXACT] !== 0 };
    this.#made.set(index, made);
    return made;
  }

  /** Makes the large indexes of wildcards, so that no lookup has to make one. Yields often. */
  *prepare(): Generator<void> {
    const fallbacks = this.fallbacks;
    for (let index = 0; index < fallbacks.length / FALLBACK; index++) {
      const at = index * FALLBACK;
      if (fallbacks[at + 2]! - fallbacks[at + 1]! <= FEW_WILDCARDS) continue;
      yield* this.#making(index);
    }
  }

  /** The nodes with wildcards of the fallback at this position. */
  protected rangeAt(at: number): Int32Array {
    return this.#wildcards.subarray(this.fallbacks[at + 1], this.fallbacks[at + 2]);
  }
}

/** An index of up to this number of wildcards is made within a lookup: less than 0.1 ms. */
const FEW_WILDCARDS = 32;

/** Wildcards that are read between two turns. */
const TURN = 256;
