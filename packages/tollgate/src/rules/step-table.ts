import type { RequestPlaces } from "../protocol/scan-request.ts";
import { TextIds } from "./text-ids.ts";
import type { Level, Node } from "./tree.ts";
import type { WildcardIndex } from "./wildcards.ts";

/** The nodes of a level and key that are tried if no exact value matches. */
interface Fallback {
  readonly wildcards: WildcardIndex<Node> | undefined;
  /** The key-only node's number, or -1. */
  readonly keyOnly: number;
}

/** Numbers in one slot: level, key, value, target. A target of 0 marks a free slot: no step leads to the root. */
const SLOT = 4;
/** Result of a step that only the texts of the request can decide. */
export const STEP_NEEDS_TEXT = -2;
/** The value of a slot whose target is a {@link Fallback} (its index + 1). Values have numbers from 1 on. */
const NO_VALUE = 0;

/**
 * All steps down a domain's tree, in one hash table of plain numbers. Keys and values have numbers, too. A node's number
 * is also the number of the level below it.
 *
 * One map for each level would be simpler, but a step through a map touches half a dozen places in memory: with 10,000
 * rules in 4 levels a lookup took 4 to 29 times as long as with 10 (`bench/rules`). A step in this table touches one.
 */
export class StepTable {
  readonly #keys = new TextIds();
  readonly #values = new TextIds();
  readonly #fallbacks: Fallback[] = [];
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** @param nodes by number. Number 0 is the top level, so index 0 is empty. */
  constructor(top: Level, nodes: readonly (Node | undefined)[]) {
    let size = 8;
    // At most two thirds full: each node takes one slot or shares a fallback's. Four slots fill one cache line.
    while (size < nodes.length * 1.5) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Int32Array(size * SLOT);
    this.#addLevel(0, top);
    for (const node of nodes) if (node?.children !== undefined) this.#addLevel(node.number, node.children);
  }

  /** Returns the number of the most specific node for a key and a value at a level, or -1. */
  step(level: number, key: string, value: string): number {
    const keyId = this.#keys.of(key);
    if (keyId === 0) return -1;
    const found = this.#exactOrFallback(level, keyId, this.#values.of(value));
    return typeof found === "number" ? found : (found.wildcards?.find(value)?.number ?? found.keyOnly);
  }

  /**
   * The same for an entry of a message. Returns {@link STEP_NEEDS_TEXT} if wildcards must compare a value that is not ASCII.
   * @param entry its position in `places.entries`
   */
  stepInPlace(level: number, places: RequestPlaces, entry: number): number {
    const { buffer, entries } = places;
    const keyId = this.#keys.find(buffer, entries[entry]!, entries[entry + 1]!);
    if (keyId === 0) return -1;
    const start = entries[entry + 2]!;
    const end = entries[entry + 3]!;
    const found = this.#exactOrFallback(level, keyId, this.#values.find(buffer, start, end));
    if (typeof found === "number") return found;
    const { wildcards, keyOnly } = found;
    if (wildcards === undefined) return keyOnly;
    // The cache key needs the text of such a value, too. Decoding it twice doubles the CPU of the worst requests.
    if (!wildcards.comparesBytes && !isAscii(buffer, start, end)) return STEP_NEEDS_TEXT;
    return wildcards.findInPlace(places, start, end)?.number ?? keyOnly;
  }

  #exactOrFallback(level: number, key: number, value: number): number | Fallback {
    if (value !== 0) {
      const exact = this.#target(level, key, value);
      if (exact !== 0) return exact;
    }
    const index = this.#target(level, key, NO_VALUE);
    return index === 0 ? -1 : this.#fallbacks[index - 1]!;
  }

  #addLevel(level: number, nodes: Level): void {
    for (const [key, { exact, wildcards, keyOnly }] of nodes) {
      const keyId = this.#keys.add(key);
      for (const [value, node] of exact) this.#add(level, keyId, this.#values.add(value), node.number);
      if (wildcards === undefined && keyOnly === undefined) continue;
      this.#fallbacks.push({ wildcards, keyOnly: keyOnly?.number ?? -1 });
      this.#add(level, keyId, NO_VALUE, this.#fallbacks.length);
    }
  }

  #add(level: number, key: number, value: number, target: number): void {
    let slot = hash(level, key, value) & this.#mask;
    while (this.#slots[slot * SLOT + 3] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots.set([level, key, value, target], slot * SLOT);
  }

  /** Returns the target of a slot, or 0 if there is no such slot. */
  #target(level: number, key: number, value: number): number {
    const slots = this.#slots;
    let slot = hash(level, key, value) & this.#mask;
    for (;;) {
      const at = slot * SLOT;
      const target = slots[at + 3]!;
      if (target === 0) return 0;
      if (slots[at] === level && slots[at + 1] === key && slots[at + 2] === value) return target;
      slot = (slot + 1) & this.#mask;
    }
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  for (let at = start; at < end; at++) bits |= bytes[at]!;
  return bits < 0x80;
}

function hash(level: number, key: number, value: number): number {
  let mixed = Math.imul(level, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b) ^ Math.imul(value, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
