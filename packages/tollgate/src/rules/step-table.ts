import type { RequestPlaces } from "../protocol/scan-request.ts";
import { type CompiledRules, DOMAIN, FALLBACK, HAS_EXACT, hashOfStep, NO_VALUE, SLOT } from "./compiled-rules.ts";
import { completed } from "./completed.ts";
import type { NodeTable } from "./node-table.ts";
import { parsePattern } from "./pattern.ts";
import { NEEDS_TEXT, NO_NODE } from "./rule.ts";
import type { TextIds } from "./text-ids.ts";
import { type WildcardEntry, WildcardIndex } from "./wildcards.ts";

/** The nodes of a level and key that are tried if no exact value matches. */
interface Fallback {
  readonly wildcards: WildcardIndex<number> | undefined;
  /** The key-only node's number, or -1. */
  readonly keyOnly: number;
}

/**
 * All steps down the trees of all domains, in one hash table of plain numbers. Keys and values have numbers, too. A node's
 * number is also the number of the level below it.
 *
 * One map for each level would be simpler, but a step through a map touches half a dozen places in memory: with 10,000
 * rules in 4 levels a lookup took 4 to 29 times as long as with 10 (`bench/rules`). A step in this table touches one.
 */
export class StepTable {
  readonly #texts: TextIds;
  readonly #nodes: NodeTable;
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #fallbacks: Int32Array;
  readonly #wildcards: Int32Array;
  /** Made when a lookup first needs them. Bounded by the number of fallbacks. */
  readonly #made = new Map<number, Fallback>();

  constructor({ slots, fallbacks, wildcards }: CompiledRules, texts: TextIds, nodes: NodeTable) {
    this.#texts = texts;
    this.#nodes = nodes;
    this.#slots = slots;
    this.#mask = slots.length / SLOT - 1;
    this.#fallbacks = fallbacks;
    this.#wildcards = wildcards;
  }

  /** Returns the number of a domain's node, or 0. */
  domain(name: string): number {
    const id = this.#texts.of(name);
    return id === 0 ? 0 : this.#target(0, id, DOMAIN);
  }

  /** Returns the number of the most specific node for a key and a value at a level, or -1. */
  step(level: number, key: string, value: string): number {
    const keyId = this.#texts.of(key);
    if (keyId === 0) return NO_NODE;
    const exact = this.#exact(level, keyId, this.#texts.of(value));
    if (exact !== 0) return exact;
    const fallback = this.#target(level, keyId, NO_VALUE) - 1;
    if (fallback < 0) return NO_NODE;
    const { wildcards, keyOnly } = this.#fallback(fallback);
    return wildcards?.find(value) ?? keyOnly;
  }

  /** Returns the number of the node of a domain whose name is `bytes[start, end)`, or 0. */
  domainInPlace(bytes: Uint8Array, start: number, end: number): number {
    const id = this.#texts.find(bytes, start, end);
    return id === 0 ? 0 : this.#target(0, id, DOMAIN);
  }

  /**
   * The same as {@link step} for an entry of a message. Returns {@link NEEDS_TEXT} if wildcards must compare a value that is
   * not ASCII.
   * @param entry its position in `places.entries`
   */
  stepInPlace(level: number, places: RequestPlaces, entry: number): number {
    const { buffer, entries } = places;
    const keyId = this.#texts.find(buffer, entries[entry]!, entries[entry + 1]!);
    if (keyId === 0) return NO_NODE;
    const start = entries[entry + 2]!;
    const end = entries[entry + 3]!;
    const fallback = this.#target(level, keyId, NO_VALUE) - 1;
    if (fallback < 0 || this.#fallbacks[fallback * FALLBACK + HAS_EXACT] !== 0) {
      const exact = this.#exact(level, keyId, this.#texts.find(buffer, start, end));
      if (exact !== 0) return exact;
      if (fallback < 0) return NO_NODE;
    }
    const { wildcards, keyOnly } = this.#fallback(fallback);
    if (wildcards === undefined) return keyOnly;
    // The cache key needs the text of such a value, too. Decoding it twice doubles the CPU of the worst requests.
    if (!wildcards.comparesBytes && !isAscii(buffer, start, end)) return NEEDS_TEXT;
    return wildcards.findInPlace(places, start, end) ?? keyOnly;
  }

  /** Returns the number of the node with exactly this value, or 0. */
  exact(level: number, key: string, value: string): number {
    return this.#exact(level, this.#texts.of(key), this.#texts.of(value));
  }

  /** Returns the number of the node without a value, or -1. */
  keyOnly(level: number, key: string): number {
    const at = this.#fallbackPlace(level, key);
    return at < 0 ? -1 : this.#fallbacks[at]!;
  }

  /** Returns the numbers of the nodes with wildcards, most specific first. */
  wildcards(level: number, key: string): readonly number[] {
    const at = this.#fallbackPlace(level, key);
    return at < 0 ? [] : [...this.#rangeAt(at)];
  }

  #fallbackPlace(level: number, key: string): number {
    const keyId = this.#texts.of(key);
    const index = keyId === 0 ? 0 : this.#target(level, keyId, NO_VALUE);
    return (index - 1) * FALLBACK;
  }

  #rangeAt(at: number): Int32Array {
    return this.#wildcards.subarray(this.#fallbacks[at + 1], this.#fallbacks[at + 2]);
  }

  /** Makes the large indexes of wildcards, so that no lookup has to make one. Yields often. */
  *prepare(): Generator<void> {
    const fallbacks = this.#fallbacks;
    for (let index = 0; index < fallbacks.length / FALLBACK; index++) {
      const at = index * FALLBACK;
      if (fallbacks[at + 2]! - fallbacks[at + 1]! <= FEW_WILDCARDS) continue;
      yield* this.#making(index);
    }
  }

  #exact(level: number, key: number, value: number): number {
    return key === 0 || value === 0 ? 0 : this.#target(level, key, value);
  }

  #fallback(index: number): Fallback {
    return this.#made.get(index) ?? this.#make(index);
  }

  /** A method of its own: a function with a closure allocates memory whenever it is called. */
  #make(index: number): Fallback {
    return completed(this.#making(index));
  }

  *#making(index: number): Generator<void, Fallback> {
    const at = index * FALLBACK;
    const keyOnly = this.#fallbacks[at]!;
    const entries: WildcardEntry<number>[] = [];
    for (const node of this.#rangeAt(at)) {
      entries.push({ pattern: parsePattern(this.#nodes.value(node)!), target: node });
      if (entries.length % TURN === 0) yield;
    }
    const wildcards = entries.length === 0 ? undefined : yield* WildcardIndex.make(entries);
    const made = { wildcards, keyOnly };
    this.#made.set(index, made);
    return made;
  }

  /** Returns the target of a slot, or 0 if there is no such slot. */
  #target(level: number, key: number, value: number): number {
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
}

/** An index of up to this number of wildcards is made within a lookup: less than 0.1 ms. */
const FEW_WILDCARDS = 32;

/** Wildcards that are read between two turns. */
const TURN = 256;

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let at = start; at < end; at++) bits |= bytes[at]!;
  return bits < 0x80;
}
