/** The buckets of one shard: they lead from a key's hash to its entry, by chains through the entries. */
import { ENTRY_END, ENTRY_FIELD, ENTRY_HASH, ENTRY_KEY, ENTRY_START, LENGTH_FIELD } from "./entry.ts";
import { type KeyScratch, keyBytes } from "./key.ts";
import type { Block } from "./layout.ts";

export class Buckets {
  readonly #ints: Int32Array;
  /** Int32 position of the first bucket. */
  readonly #at: number;
  readonly #mask: number;

  /** @param at start of the shard, in words */
  constructor({ layout, ints }: Block, at: number) {
    this.#ints = ints;
    this.#at = (at + layout.bucketsAt) * 2;
    this.#mask = layout.buckets - 1;
  }

  /** Finds the entry of a key's state with this start. @returns its word position, 0 for none */
  find(key: KeyScratch, start: number): number {
    const ints = this.#ints;
    const { hash, lengthField, size, words: keyWords } = key;
    const wanted = start | 0;
    let entry = ints[this.#at + (hash & this.#mask)]!;
    search: while (entry !== 0) {
      const at = entry * 2;
      const current = entry;
      entry = ints[at]!;
      if (ints[at + ENTRY_HASH] !== hash || ints[at + ENTRY_START] !== wanted) continue;
      if ((ints[at + ENTRY_FIELD]! & LENGTH_FIELD) !== lengthField) continue;
      for (let index = 0; index < size; index++)
        if (ints[at + ENTRY_KEY + index] !== keyWords[index]) continue search;
      return current;
    }
    return 0;
  }

  /** Whether another entry has the same key and start. */
  hasTwin(entry: number): boolean {
    return this.twinOf(entry) !== 0;
  }

  /** The other entry with the same key and start, 0 for none. */
  twinOf(entry: number): number {
    const ints = this.#ints;
    const at = entry * 2;
    const end = at + ENTRY_KEY + ((keyBytes(ints[at + ENTRY_FIELD]!) + 3) >>> 2);
    let other = ints[this.#bucketOf(entry)]!;
    search: for (; other !== 0; other = ints[other * 2]!) {
      const shift = (other - entry) * 2;
      if (other === entry || ints[at + ENTRY_HASH + shift] !== ints[at + ENTRY_HASH]) continue;
      if (ints[at + ENTRY_START + shift] !== ints[at + ENTRY_START]) continue;
      if (((ints[at + ENTRY_FIELD + shift]! ^ ints[at + ENTRY_FIELD]!) & LENGTH_FIELD) !== 0) continue;
      for (let key = at + ENTRY_KEY; key < end; key++) if (ints[key + shift] !== ints[key]) continue search;
      return other;
    }
    return 0;
  }

  /** Adds an entry at the front of its bucket's chain. */
  add(entry: number): void {
    const bucket = this.#bucketOf(entry);
    this.#ints[entry * 2] = this.#ints[bucket]!;
    this.#ints[bucket] = entry;
  }

  remove(entry: number): void {
    this.#ints[this.#linkTo(entry)] = this.#ints[entry * 2]!;
  }

  /** Replaces an entry by its copy. */
  replace(entry: number, copy: number): void {
    this.#ints[copy * 2] = this.#ints[entry * 2]!;
    this.#ints[this.#linkTo(entry)] = copy;
  }

  clear(): void {
    this.#ints.fill(0, this.#at, this.#at + this.#mask + 1);
  }

  #bucketOf(entry: number): number {
    return this.#at + (this.#ints[entry * 2 + ENTRY_HASH]! & this.#mask);
  }

  /** Int32 position of the link to an entry: in its bucket, or in the entry before it. */
  #linkTo(entry: number): number {
    const ints = this.#ints;
    let link = this.#bucketOf(entry);
    while (ints[link] !== entry) link = ints[link]! * 2;
    return link;
  }
}

/**
 * Writes a new entry before any link points to it.
 * @param field see `entryField`
 * @param start start of its state in seconds, like `end`
 */
export function writeKey(
  ints: Int32Array,
  entry: number,
  key: KeyScratch,
  field: number,
  start: number,
  end: number,
): void {
  const at = entry * 2;
  ints[at + ENTRY_HASH] = key.hash;
  ints[at + ENTRY_START] = start | 0;
  ints[at + ENTRY_END] = end | 0;
  ints[at + ENTRY_FIELD] = field;
  for (let index = 0; index < key.size; index++) ints[at + ENTRY_KEY + index] = key.words[index]!;
}
