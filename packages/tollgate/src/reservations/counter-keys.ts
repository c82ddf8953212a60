/**
 * Finds counters by their keys without a text for each call: by a hash of the key's bytes, under a random key, since callers
 * choose the keys.
 */
import { randomBytes } from "node:crypto";
import { KeyScratch } from "../counters/embedded/key.ts";
import type { AcquireLimit } from "../counters/store.ts";

/** A key, as `KeyScratch` encodes it. */
export interface KnownCounter {
  /** Its number among the counters. */
  readonly number: number;
  readonly words: Int32Array;
  readonly lengthField: number;
  readonly windowStart: number;
}

/** Counters in the order in which they were added. */
export class CounterKeys<Counter extends KnownCounter> {
  readonly #counters = new Map<number, Counter>();
  readonly #key: KeyScratch;
  #number = 0;
  #windowStart = 0;

  constructor() {
    const seeds = randomBytes(8);
    this.#key = new KeyScratch(seeds.readInt32LE(0), seeds.readInt32LE(4));
  }

  get size(): number {
    return this.#counters.size;
  }

  [Symbol.iterator](): Iterator<Counter> {
    return this.#counters.values();
  }

  first(): Counter | undefined {
    return this.#counters.values().next().value;
  }

  find(limit: AcquireLimit): Counter | undefined {
    const key = this.#key;
    key.encode(limit);
    const { windowStart } = limit;
    this.#windowStart = windowStart;
    // Counters with the same hash follow each other. If one of them is deleted, the next may be added twice.
    for (let number = key.hash ^ windowStart; ; number++) {
      number |= 0;
      this.#number = number;
      const known = this.#counters.get(number);
      if (known === undefined || isOf(known, key, windowStart)) return known;
    }
  }

  /** The key that `find` has not found. */
  get asked(): KnownCounter {
    const { words, size, lengthField } = this.#key;
    return { number: this.#number, words: words.slice(0, size), lengthField, windowStart: this.#windowStart };
  }

  add(counter: Counter): void {
    this.#counters.set(counter.number, counter);
  }

  /** @returns whether it was among the counters */
  delete(counter: Counter): boolean {
    return this.#counters.get(counter.number) === counter && this.#counters.delete(counter.number);
  }

  moveToEnd(counter: Counter): void {
    if (this.delete(counter)) this.add(counter);
  }
}

function isOf({ words, lengthField, windowStart }: KnownCounter, key: KeyScratch, start: number): boolean {
  if (lengthField !== key.lengthField || windowStart !== start) return false;
  for (let index = 0; index < words.length; index++) if (words[index] !== key.words[index]) return false;
  return true;
}
