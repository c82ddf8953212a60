/**
 * One shard of the embedded store: a hash table with chained entries in segments, under one lock.
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
 * A thread may die between any two writes here. What counts is therefore only what the segment headers and the
 * entries below `words used` say; buckets, windows and the list of free segments are made anew from them by
 * {@link Shard.rebuild}, and each change is written so that this holds at every moment.
 */
import { MAX_COUNT } from "../store.ts";
import { type KeyScratch, keyBytes } from "./key.ts";
import {
  type Block,
  MAX_WINDOWS,
  SEGMENT_HEADER_WORDS,
  SHARD_EVICTED,
  SHARD_EXPIRED,
  SHARD_IN_USE,
  SHARD_LIVE,
  SHARD_SEGMENTS,
  SHARD_TAKEOVERS,
  WINDOW_WORDS,
} from "./layout.ts";
import { Lock } from "./lock.ts";

/** Where the count stands in an entry. */
export const COUNT_WORD = 1;
const ENTRY_WINDOW_START = 2;
const ENTRY_KEY = 3;

/**
 * Milliseconds that a window is kept beyond its end. Threads read the clock before they count: without it one that
 * was held up across the end would begin a second count of a window that another has already reclaimed.
 */
export const KEEP_AFTER_END = 1000;

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
  readonly words: Float64Array;
  readonly #ints: Int32Array;
  readonly #lock: Lock;
  /** Word position of the shard. */
  readonly #at: number;
  readonly #windows: number;
  readonly #headers: number;
  /** Int32 position of the first bucket. */
  readonly #buckets: number;
  readonly #bucketMask: number;
  readonly #bucketCount: number;
  readonly #arena: number;
  readonly #segmentWords: number;
  readonly #segments: number;

  constructor(block: Block, index: number, ticket: number) {
    const { layout } = block;
    this.words = block.words;
    this.#ints = block.ints;
    this.#at = layout.firstShard + index * layout.shardWords;
    this.#lock = new Lock(block.ints, this.#at * 2, ticket);
    this.#windows = this.#at + layout.windowsAt;
    this.#headers = this.#at + layout.segmentHeadersAt;
    this.#buckets = (this.#at + layout.bucketsAt) * 2;
    this.#bucketMask = layout.buckets - 1;
    this.#bucketCount = layout.buckets;
    this.#arena = this.#at + layout.segmentsAt;
    this.#segmentWords = layout.segmentWords;
    this.#segments = layout.segments;
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
    const words = this.words;
    const size = ENTRY_KEY + ((key.size + 2) >>> 1);
    const segment = this.#segmentFor(windowEnd, size, now);
    const header = this.#headers + segment * SEGMENT_HEADER_WORDS;
    const used = (header + 2) * 2;
    const entry = this.#arena + segment * this.#segmentWords + ints[used]!;
    const at = entry * 2;
    const bucket = this.#buckets + (key.hash & this.#bucketMask);
    ints[at] = ints[bucket]!;
    ints[at + 1] = key.hash;
    words[entry + COUNT_WORD] = count;
    words[entry + ENTRY_WINDOW_START] = windowStart;
    const keyAt = at + ENTRY_KEY * 2;
    ints[keyAt] = key.lengthField;
    for (let index = 0; index < key.size; index++) ints[keyAt + 1 + index] = key.words[index]!;
    ints[bucket] = entry;
    words[this.#at + SHARD_LIVE]! += 1;
    ints[used]! += size; // From here on it survives a rebuild.
    return entry;
  }

  /** The segment that an entry stands in. */
  segmentOf(entry: number): number {
    return Math.floor((entry - this.#arena) / this.#segmentWords);
  }

  /** Changes when the segment's entries are gone: a position stays good as long as this stays the same. */
  generation(segment: number): number {
    return this.words[this.#headers + segment * SEGMENT_HEADER_WORDS]!;
  }

  // --- Windows and segments

  /** Frees up to `most` segments of windows that are over. @returns how many */
  reclaim(now: number, most: number): number {
    let freed = 0;
    while (freed < most) {
      const window = this.#firstToEnd();
      if (window < 0 || !this.#isOver(window, now)) break;
      this.#freeOne(window, SHARD_EXPIRED);
      freed += 1;
    }
    return freed;
  }

  /** The segment that takes the next entry of this size for a window. */
  #segmentFor(windowEnd: number, size: number, now: number): number {
    let window = this.#findWindow(windowEnd);
    if (window >= 0) {
      const segment = this.#ints[(window + 1) * 2]! - 1;
      const used = this.#ints[(this.#headers + segment * SEGMENT_HEADER_WORDS + 2) * 2]!;
      if (used + size <= this.#segmentWords) return segment;
    }
    this.#makeRoom(windowEnd, now);
    const segment = this.#takeFree();
    window = this.#findWindow(windowEnd);
    if (window < 0) window = this.#addWindow(windowEnd);
    this.#open(segment, window);
    return segment;
  }

  /** Sees to it that a segment is free and that a window of this end has a place. */
  #makeRoom(windowEnd: number, now: number): void {
    const ints = this.#ints;
    const first = this.#firstToEnd();
    // A segment whose window is over is used before memory that was never touched.
    if (first >= 0 && this.#isOver(first, now)) this.#freeOne(first, SHARD_EXPIRED);
    const at = (this.#at + SHARD_SEGMENTS) * 2;
    if (ints[at] === 0 && ints[at + 1] === this.#segments) this.#evictOne(now);
    const inUse = (this.#at + SHARD_IN_USE) * 2;
    while (ints[inUse] === MAX_WINDOWS && this.#findWindow(windowEnd) < 0) this.#evictOne(now);
  }

  #evictOne(now: number): void {
    const window = this.#firstToEnd();
    this.#freeOne(window, this.words[window]! * 1000 <= now ? SHARD_EXPIRED : SHARD_EVICTED);
  }

  #takeFree(): number {
    const ints = this.#ints;
    const at = (this.#at + SHARD_SEGMENTS) * 2;
    const free = ints[at]!;
    if (free === 0) return ints[at + 1]!++;
    ints[at] = ints[(this.#headers + (free - 1) * SEGMENT_HEADER_WORDS + 2) * 2 + 1]!;
    return free - 1;
  }

  /** Puts a free segment at the front of a window's list. */
  #open(segment: number, window: number): void {
    const ints = this.#ints;
    const header = this.#headers + segment * SEGMENT_HEADER_WORDS;
    this.words[header + 1] = this.words[window]!;
    ints[(header + 2) * 2 + 1] = ints[(window + 1) * 2]!;
    ints[(window + 1) * 2] = segment + 1;
    ints[(this.#at + SHARD_IN_USE) * 2 + 1]! += 1;
  }

  #findWindow(end: number): number {
    const last = this.#windows + this.#ints[(this.#at + SHARD_IN_USE) * 2]! * WINDOW_WORDS;
    for (let window = this.#windows; window < last; window += WINDOW_WORDS)
      if (this.words[window] === end) return window;
    return -1;
  }

  #addWindow(end: number): number {
    const inUse = (this.#at + SHARD_IN_USE) * 2;
    const window = this.#windows + this.#ints[inUse]! * WINDOW_WORDS;
    this.words[window] = end;
    this.#ints[(window + 1) * 2] = 0;
    this.#ints[inUse]! += 1;
    return window;
  }

  #removeWindow(window: number): void {
    const inUse = (this.#at + SHARD_IN_USE) * 2;
    const last = this.#windows + (this.#ints[inUse]! - 1) * WINDOW_WORDS;
    this.words[window] = this.words[last]!;
    this.#ints[(window + 1) * 2] = this.#ints[(last + 1) * 2]!;
    this.#ints[inUse]! -= 1;
  }

  /** The window that ends first, -1 where there is none. */
  #firstToEnd(): number {
    const last = this.#windows + this.#ints[(this.#at + SHARD_IN_USE) * 2]! * WINDOW_WORDS;
    let first = -1;
    let end = Infinity;
    for (let window = this.#windows; window < last; window += WINDOW_WORDS) {
      const candidate = this.words[window]!;
      if (candidate < end) {
        end = candidate;
        first = window;
      }
    }
    return first;
  }

  #isOver(window: number, now: number): boolean {
    return this.words[window]! * 1000 + KEEP_AFTER_END <= now;
  }

  /**
   * Frees a full segment of a window, or its last one. At most 16 KiB of entries, some 250: 10 µs; a window of any
   * size goes in such steps, which is why there is no pause.
   */
  #freeOne(window: number, reason: typeof SHARD_EXPIRED | typeof SHARD_EVICTED): void {
    const ints = this.#ints;
    const first = ints[(window + 1) * 2]! - 1;
    const firstLink = (this.#headers + first * SEGMENT_HEADER_WORDS + 2) * 2 + 1;
    const second = ints[firstLink]! - 1;
    const segment = second >= 0 ? second : first;
    const header = this.#headers + segment * SEGMENT_HEADER_WORDS;
    const link = (header + 2) * 2 + 1;

    const entries = this.#unlinkEntries(segment);
    this.words[this.#at + SHARD_LIVE]! -= entries;
    this.words[this.#at + reason]! += entries;
    this.words[header]! += 1;
    ints[link - 1] = 0; // From here on it is free in a rebuild.
    if (second >= 0) ints[firstLink] = ints[link]!;
    else this.#removeWindow(window);
    const at = (this.#at + SHARD_SEGMENTS) * 2;
    ints[link] = ints[at]!;
    ints[at] = segment + 1;
    ints[(this.#at + SHARD_IN_USE) * 2 + 1]! -= 1;
  }

  /** Takes a segment's entries out of their buckets. @returns how many there were */
  #unlinkEntries(segment: number): number {
    const ints = this.#ints;
    let entry = this.#arena + segment * this.#segmentWords;
    const end = entry + ints[(this.#headers + segment * SEGMENT_HEADER_WORDS + 2) * 2]!;
    let entries = 0;
    while (entry < end) {
      const at = entry * 2;
      let link = this.#buckets + (ints[at + 1]! & this.#bucketMask);
      while (ints[link] !== entry) link = ints[link]! * 2;
      ints[link] = ints[at]!;
      entry += entryWords(ints[at + ENTRY_KEY * 2]!);
      entries += 1;
    }
    return entries;
  }

  /**
   * Makes buckets, windows and free list anew from the segments, after a thread died with the lock held.
   * 62,500 counters take 2.3 ms, once for each such death.
   */
  rebuild(): void {
    const ints = this.#ints;
    const words = this.words;
    const at = (this.#at + SHARD_SEGMENTS) * 2;
    ints.fill(0, this.#buckets, this.#buckets + this.#bucketCount);
    ints[at] = 0;
    ints[at + 2] = 0; // SHARD_IN_USE: windows
    ints[at + 3] = 0; // SHARD_IN_USE: segments
    let live = 0;
    for (let segment = 0; segment < ints[at + 1]!; segment++) {
      const header = this.#headers + segment * SEGMENT_HEADER_WORDS;
      const used = ints[(header + 2) * 2]!;
      if (used === 0) {
        words[header]! += 1;
        ints[(header + 2) * 2 + 1] = ints[at]!;
        ints[at] = segment + 1;
        continue;
      }
      let window = this.#findWindow(words[header + 1]!);
      if (window < 0) window = this.#addWindow(words[header + 1]!);
      this.#open(segment, window);
      live += this.#linkEntries(segment, used);
    }
    words[this.#at + SHARD_LIVE] = live;
    words[this.#at + SHARD_TAKEOVERS]! += 1;
  }

  #linkEntries(segment: number, used: number): number {
    const ints = this.#ints;
    let entry = this.#arena + segment * this.#segmentWords;
    const end = entry + used;
    let entries = 0;
    while (entry < end) {
      const bucket = this.#buckets + (ints[entry * 2 + 1]! & this.#bucketMask);
      ints[entry * 2] = ints[bucket]!;
      ints[bucket] = entry;
      entry += entryWords(ints[(entry + ENTRY_KEY) * 2]!);
      entries += 1;
    }
    return entries;
  }

  // --- Looking from outside

  /** Shows the entries of a segment; the object is reused. */
  forEach(segment: number, visit: (entry: Entry) => void): void {
    const shown: Entry = { windowStart: 0, windowEnd: 0, count: 0, lengthField: 0, keyAt: 0 };
    const header = this.#headers + segment * SEGMENT_HEADER_WORDS;
    let entry = this.#arena + segment * this.#segmentWords;
    const end = entry + this.#ints[(header + 2) * 2]!;
    shown.windowEnd = this.words[header + 1]!;
    while (entry < end) {
      shown.windowStart = this.words[entry + ENTRY_WINDOW_START]!;
      shown.count = this.words[entry + COUNT_WORD]!;
      shown.lengthField = this.#ints[(entry + ENTRY_KEY) * 2]!;
      shown.keyAt = (entry + ENTRY_KEY) * 8 + 4;
      visit(shown);
      entry += entryWords(shown.lengthField);
    }
  }

  /** Segments that were ever used: those from 0 to below this. Needs no lock. */
  segmentsTouched(): number {
    return this.#ints[(this.#at + SHARD_SEGMENTS) * 2 + 1]!;
  }

  /** A figure of the shard: one of `SHARD_LIVE`, `SHARD_EVICTED`, `SHARD_EXPIRED`, `SHARD_TAKEOVERS`. Needs no lock. */
  figure(which: number): number {
    return this.words[this.#at + which]!;
  }

  /** Needs no lock. */
  segmentsInUse(): number {
    return this.#ints[(this.#at + SHARD_IN_USE) * 2 + 1]!;
  }
}

/** A counter after hits, within 0 .. 2^53 - 1. */
export function plus(before: number, hits: number): number {
  return Math.min(Math.max(before + hits, 0), MAX_COUNT);
}

/** Words of an entry whose key has this length field: the key's first 4 bytes share a word with the field. */
function entryWords(lengthField: number): number {
  return ENTRY_KEY + ((((keyBytes(lengthField) + 3) >>> 2) + 2) >>> 1);
}
