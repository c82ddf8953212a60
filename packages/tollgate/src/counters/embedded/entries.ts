/** The entries of one shard's segments. Each operation drops, moves, repairs or shows all entries of a segment. */
import type { Buckets } from "./buckets.ts";
import { DUPLICATE, ENTRY_END, ENTRY_FIELD, entryWords, PROTECTED, USED_AGAIN } from "./entry.ts";
import { type Block, SHARD_EVICTED, SHARD_EVICTED_PROTECTED, SHARD_EXPIRED, SHARD_LIVE } from "./layout.ts";
import type { Segments } from "./segments.ts";

/**
 * Milliseconds for which a state is kept beyond its end. Threads read the clock before they count. Without this, a
 * thread that was delayed across the end of a window could start a second counter for it.
 */
const KEEP_AFTER_END = 1000;

/** The share of a segment's unprotected entries that may stay. The remaining share bounds the work for one new entry. */
const GRACE = 7 / 8;

/** Whether a state has ended and may be dropped. @param end seconds @param now milliseconds */
export function hasEnded(end: number, now: number): boolean {
  return end * 1000 + KEEP_AFTER_END <= now;
}

export class Entries {
  readonly #words: Float64Array;
  readonly #ints: Int32Array;
  /** Word position of the shard. */
  readonly #at: number;
  readonly #segments: Segments;
  readonly #buckets: Buckets;

  constructor({ words, ints }: Block, at: number, segments: Segments, buckets: Buckets) {
    this.#words = words;
    this.#ints = ints;
    this.#at = at;
    this.#segments = segments;
    this.#buckets = buckets;
  }

  /** Drops all entries of a detached segment. */
  drop(segment: number, now: number): void {
    const end = this.#segments.end(segment);
    for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry))
      this.#remove(entry, now);
  }

  /** Moves entries worth keeping out of a detached segment, and drops the others. */
  drain(segment: number, now: number): void {
    const ints = this.#ints;
    const end = this.#segments.end(segment);
    let grace = this.#graceOf(segment);
    for (let entry = this.#segments.start(segment); entry < end; ) {
      const field = ints[entry * 2 + ENTRY_FIELD]!;
      const size = entryWords(field);
      let keeps = (field & PROTECTED) !== 0;
      if (!keeps && (field & USED_AGAIN) !== 0 && size <= grace) {
        keeps = true;
        grace -= size;
      }
      if (keeps && (field & DUPLICATE) === 0 && !hasEnded(this.#endOf(entry), now))
        this.#move(entry, this.#segments.listOf(segment));
      else this.#remove(entry, now);
      entry += size;
    }
  }

  /** Words for entries that stay because they were counted again: most of the segment's unprotected words. */
  #graceOf(segment: number): number {
    const end = this.#segments.end(segment);
    let unprotected = 0;
    for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry))
      if ((this.#ints[entry * 2 + ENTRY_FIELD]! & PROTECTED) === 0) unprotected += this.#wordsOf(entry);
    return unprotected * GRACE;
  }

  #move(entry: number, list: number): void {
    const field = this.#ints[entry * 2 + ENTRY_FIELD]!;
    const size = entryWords(field);
    const segment = this.#segments.forMoved(list, size);
    const copy = this.#segments.end(segment);
    this.#words.copyWithin(copy, entry, entry + size);
    this.#ints[copy * 2 + ENTRY_FIELD] = field & ~USED_AGAIN;
    this.#buckets.replace(entry, copy);
    this.#segments.append(segment, size, this.#endOf(copy));
    if ((field & PROTECTED) !== 0) this.#segments.protect(segment, 1);
  }

  #remove(entry: number, now: number): void {
    const field = this.#ints[entry * 2 + ENTRY_FIELD]!;
    if ((field & DUPLICATE) !== 0) return;
    this.#buckets.remove(entry);
    this.#words[this.#at + SHARD_LIVE]! -= 1;
    // An ended state counts as expired at once: the second of grace does not matter for the figures.
    if (this.#endOf(entry) * 1000 <= now) this.#words[this.#at + SHARD_EXPIRED]! += 1;
    else {
      this.#words[this.#at + SHARD_EVICTED]! += 1;
      if ((field & PROTECTED) !== 0) this.#words[this.#at + SHARD_EVICTED_PROTECTED]! += 1;
    }
  }

  /** Counts and links the entries of a segment during a rebuild. */
  adopt(segment: number, mayHaveCopies: boolean): void {
    const ints = this.#ints;
    const end = this.#segments.end(segment);
    let entries = 0;
    let protectedEntries = 0;
    for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry)) {
      const at = entry * 2 + ENTRY_FIELD;
      if (mayHaveCopies && this.#buckets.hasTwin(entry)) ints[at] = (ints[at]! & ~PROTECTED) | DUPLICATE;
      entries += 1;
      if ((ints[at]! & PROTECTED) !== 0) protectedEntries += 1;
      if ((ints[at]! & DUPLICATE) !== 0) continue;
      this.#buckets.add(entry);
      this.#words[this.#at + SHARD_LIVE]! += 1;
    }
    this.#segments.recount(segment, entries, protectedEntries);
  }

  #wordsOf(entry: number): number {
    return entryWords(this.#ints[entry * 2 + ENTRY_FIELD]!);
  }

  /** The end of an entry, in seconds. */
  #endOf(entry: number): number {
    return this.#ints[entry * 2 + ENTRY_END]! >>> 0;
  }
}
