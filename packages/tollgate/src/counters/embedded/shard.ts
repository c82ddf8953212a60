/**
 * One shard of the embedded store: a hash table with chained entries, under one lock.
 *
 * An entry, in 8-byte words:
 * ```
 * 0  next entry of the bucket (word position, 0: none) | hash      two Int32
 * 1  count                                                         Float64, 0 .. 2^53 - 1
 * 2  window start in seconds                                       Float64
 * 3  length field of the key | first 4 bytes of the key            Int32, bytes
 * 4  the rest of the key
 * ```
 * A counter with a key of 44 bytes takes 72 bytes and 8 of buckets.
 *
 * A thread may die between any two writes here. What counts is therefore only what stands in the segments; the
 * buckets are made anew from them by {@link Shard.rebuild}, as `segments.ts` makes its own lists anew.
 */
import { MAX_COUNT } from "../store.ts";
import { type KeyScratch, keyBytes } from "./key.ts";
import { type Block, SHARD_LIVE, SHARD_TAKEOVERS } from "./layout.ts";
import { Lock } from "./lock.ts";
import { type Reason, Segments } from "./segments.ts";

/** Where the count stands in an entry. */
export const COUNT_WORD = 1;
const ENTRY_WINDOW_START = 2;
const ENTRY_KEY = 3;

/** An entry as `Shard.forEach` shows it. */
export interface Entry {
  windowStart: number;
  windowEnd: number;
  count: number;
  lengthField: number;
  /** Position of the key's first byte in the block. */
  keyAt: number;
}

export class Shard {
  readonly index: number;
  readonly words: Float64Array;
  readonly #ints: Int32Array;
  readonly #lock: Lock;
  readonly #segments: Segments;
  /** Word position of the shard. */
  readonly #at: number;
  /** Int32 position of the first bucket. */
  readonly #buckets: number;
  readonly #bucketMask: number;

  constructor(block: Block, index: number, ticket: number) {
    const { layout } = block;
    this.index = index;
    this.words = block.words;
    this.#ints = block.ints;
    this.#at = layout.firstShard + index * layout.shardWords;
    this.#lock = new Lock(block.ints, this.#at * 2, ticket);
    this.#segments = new Segments(block, this.#at, (segment, reason) => this.#empty(segment, reason));
    this.#buckets = (this.#at + layout.bucketsAt) * 2;
    this.#bucketMask = layout.buckets - 1;
  }

  // --- The lock. Everything below it is called with the lock held; nothing there throws or allocates.

  /** @throws {StoreError} STORE_UNAVAILABLE */
  acquire(): void {
    if (this.#lock.acquire()) this.rebuild();
  }

  tryAcquire(): boolean {
    return this.#lock.tryAcquire();
  }

  release(): void {
    this.#lock.release();
  }

  /** Frees the lock if this dead thread's ticket holds it. Called without the lock. */
  releaseFor(ticket: number): void {
    if (!this.#lock.takeFrom(ticket)) return;
    this.rebuild();
    this.release();
  }

  // --- Counters

  /** The entry of a key in a window (word position), 0 where there is none. */
  find(key: KeyScratch, windowStart: number): number {
    const ints = this.#ints;
    const { hash, lengthField, size, words: keyWords } = key;
    let entry = ints[this.#buckets + (hash & this.#bucketMask)]!;
    search: while (entry !== 0) {
      const at = entry * 2;
      const current = entry;
      entry = ints[at]!;
      if (ints[at + 1] !== hash || this.words[current + ENTRY_WINDOW_START] !== windowStart) continue;
      const keyAt = at + ENTRY_KEY * 2;
      if (ints[keyAt] !== lengthField) continue;
      for (let index = 0; index < size; index++)
        if (ints[keyAt + 1 + index] !== keyWords[index]) continue search;
      return current;
    }
    return 0;
  }

  /**
   * Adds an entry that `find` did not find. May free segments, so positions found before it are no longer good.
   * @param windowEnd seconds
   * @param now milliseconds
   */
  insert(key: KeyScratch, windowStart: number, windowEnd: number, count: number, now: number): number {
    const ints = this.#ints;
    const size = entryWords(key.lengthField);
    const segment = this.#segments.roomFor(windowEnd, size, now);
    const entry = this.#segments.end(segment);
    const at = entry * 2;
    const bucket = this.#bucketOf(key.hash);
    ints[at] = ints[bucket]!;
    ints[at + 1] = key.hash;
    this.words[entry + COUNT_WORD] = count;
    this.words[entry + ENTRY_WINDOW_START] = windowStart;
    const keyAt = at + ENTRY_KEY * 2;
    ints[keyAt] = key.lengthField;
    for (let index = 0; index < key.size; index++) ints[keyAt + 1 + index] = key.words[index]!;
    ints[bucket] = entry;
    this.words[this.#at + SHARD_LIVE]! += 1;
    this.#segments.grow(segment, size); // From here on it survives a rebuild.
    return entry;
  }

  /** The segment that an entry stands in. */
  segmentOf(entry: number): number {
    return this.#segments.of(entry);
  }

  /** Changes when the segment's entries are gone: a position stays good as long as this stays the same. */
  generation(segment: number): number {
    return this.#segments.generation(segment);
  }

  /** Frees up to `most` segments of windows that are over. */
  reclaim(now: number, most: number): void {
    this.#segments.reclaim(now, most);
  }

  /** Int32 position of a hash's bucket. */
  #bucketOf(hash: number): number {
    return this.#buckets + (hash & this.#bucketMask);
  }

  /** Takes a segment's entries out of their buckets. */
  #empty(segment: number, reason: Reason): void {
    const ints = this.#ints;
    const end = this.#segments.end(segment);
    let entries = 0;
    for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry)) {
      let link = this.#bucketOf(ints[entry * 2 + 1]!);
      while (ints[link] !== entry) link = ints[link]! * 2;
      ints[link] = ints[entry * 2]!;
      entries += 1;
    }
    this.words[this.#at + SHARD_LIVE]! -= entries;
    this.words[this.#at + reason]! += entries;
  }

  /**
   * Makes everything anew from the segments, after a thread died with the lock held. 62,500 counters take 2.3 ms, once
   * for each such death.
   */
  rebuild(): void {
    const ints = this.#ints;
    ints.fill(0, this.#buckets, this.#buckets + this.#bucketMask + 1);
    this.words[this.#at + SHARD_LIVE] = 0;
    this.#segments.rebuild((segment) => {
      const end = this.#segments.end(segment);
      for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry)) {
        const bucket = this.#bucketOf(ints[entry * 2 + 1]!);
        ints[entry * 2] = ints[bucket]!;
        ints[bucket] = entry;
        this.words[this.#at + SHARD_LIVE]! += 1;
      }
    });
    this.words[this.#at + SHARD_TAKEOVERS]! += 1;
  }

  #wordsOf(entry: number): number {
    return entryWords(this.#ints[(entry + ENTRY_KEY) * 2]!);
  }

  // --- Looking from outside

  /** Shows the entries of a segment; the object is reused. */
  forEach(segment: number, visit: (entry: Entry) => void): void {
    const windowEnd = this.#segments.windowEnd(segment);
    const shown: Entry = { windowStart: 0, windowEnd, count: 0, lengthField: 0, keyAt: 0 };
    const end = this.#segments.end(segment);
    for (let entry = this.#segments.start(segment); entry < end; entry += this.#wordsOf(entry)) {
      shown.windowStart = this.words[entry + ENTRY_WINDOW_START]!;
      shown.count = this.words[entry + COUNT_WORD]!;
      shown.lengthField = this.#ints[(entry + ENTRY_KEY) * 2]!;
      shown.keyAt = (entry + ENTRY_KEY) * 8 + 4;
      visit(shown);
    }
  }

  /** Segments that were ever used: those from 0 to below this. Needs no lock. */
  segmentsTouched(): number {
    return this.#segments.touched;
  }

  /** Needs no lock. */
  segmentsInUse(): number {
    return this.#segments.inUse;
  }

  /** A figure of the shard: one of `SHARD_LIVE`, `SHARD_EVICTED`, `SHARD_EXPIRED`, `SHARD_TAKEOVERS`. Needs no lock. */
  figure(which: number): number {
    return this.words[this.#at + which]!;
  }
}

/** A counter after hits, within 0 .. 2^53 - 1. */
export function plus(before: number, hits: number): number {
  return Math.min(Math.max(before + hits, 0), MAX_COUNT);
}

/** Words of an entry whose key has this length field: the key's first 4 bytes share a word with the field. */
function entryWords(lengthField: number): number {
  return ENTRY_KEY + ((keyBytes(lengthField) + 4 + 7) >>> 3);
}
