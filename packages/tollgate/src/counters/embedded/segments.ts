/**
 * The segments of one shard, and which windows they belong to. What stands in them is the shard's business.
 *
 * Everything here is called with the shard's lock held, neither throws nor allocates, and is written so that what the
 * segment headers say is right at every moment: the list of windows and the list of free segments can be made anew
 * from them, which `rebuild` does.
 */
import {
  type Block,
  MAX_WINDOWS,
  SEGMENT_HEADER_WORDS,
  SHARD_EVICTED,
  SHARD_EXPIRED,
  SHARD_IN_USE,
  SHARD_SEGMENTS,
  WINDOW_WORDS,
} from "./layout.ts";

/**
 * Milliseconds that a window is kept beyond its end. Threads read the clock before they count: without it one that
 * was held up across the end would begin a second count of a window that another has already reclaimed.
 */
const KEEP_AFTER_END = 1000;

/** Why a segment is emptied: the figure of the shard that its entries are added to. */
export type Reason = typeof SHARD_EXPIRED | typeof SHARD_EVICTED;

export class Segments {
  readonly #words: Float64Array;
  readonly #ints: Int32Array;
  readonly #windows: number;
  readonly #headers: number;
  readonly #first: number;
  readonly #size: number;
  readonly #count: number;
  /** Int32 positions: first free segment + 1; segments ever used; windows in use; segments in use. */
  readonly #free: number;
  readonly #touched: number;
  readonly #windowsInUse: number;
  readonly #inUse: number;
  readonly #empty: (segment: number, reason: Reason) => void;

  /**
   * @param at where the shard starts, in words
   * @param empty called before a segment is freed: its entries must be reachable no more afterwards
   */
  constructor(block: Block, at: number, empty: (segment: number, reason: Reason) => void) {
    const { layout } = block;
    this.#words = block.words;
    this.#ints = block.ints;
    this.#windows = at + layout.windowsAt;
    this.#headers = at + layout.segmentHeadersAt;
    this.#first = at + layout.segmentsAt;
    this.#size = layout.segmentWords;
    this.#count = layout.segments;
    this.#free = (at + SHARD_SEGMENTS) * 2;
    this.#touched = this.#free + 1;
    this.#windowsInUse = (at + SHARD_IN_USE) * 2;
    this.#inUse = this.#windowsInUse + 1;
    this.#empty = empty;
  }

  // --- One segment

  /** The segment that an entry stands in. */
  of(entry: number): number {
    return Math.floor((entry - this.#first) / this.#size);
  }

  /** Changes when the segment is freed. */
  generation(segment: number): number {
    return this.#words[this.#headers + segment * SEGMENT_HEADER_WORDS]!;
  }

  /** In seconds. */
  windowEnd(segment: number): number {
    return this.#words[this.#headers + segment * SEGMENT_HEADER_WORDS + 1]!;
  }

  /** Word position of the segment's first entry. */
  start(segment: number): number {
    return this.#first + segment * this.#size;
  }

  /** Word position behind its last entry: where the next one goes. */
  end(segment: number): number {
    return this.start(segment) + this.#ints[this.#usedAt(segment)]!;
  }

  /** Makes the entry that was written at `end` a part of the segment. */
  grow(segment: number, words: number): void {
    this.#ints[this.#usedAt(segment)]! += words;
  }

  /** Segments that were ever used: those from 0 to below this. */
  get touched(): number {
    return this.#ints[this.#touched]!;
  }

  get inUse(): number {
    return this.#ints[this.#inUse]!;
  }

  /** Int32 position of the words in use. */
  #usedAt(segment: number): number {
    return (this.#headers + segment * SEGMENT_HEADER_WORDS + 2) * 2;
  }

  /** Int32 position of the next segment of the window, or of the free list, + 1. */
  #linkAt(segment: number): number {
    return this.#usedAt(segment) + 1;
  }

  // --- Taking and freeing

  /**
   * The segment that takes the next entry of a window. May free others.
   * @param words the entry's size
   */
  roomFor(windowEnd: number, words: number, now: number): number {
    let window = this.#find(windowEnd);
    if (window >= 0) {
      const segment = this.#headOf(window);
      if (this.#ints[this.#usedAt(segment)]! + words <= this.#size) return segment;
    }
    this.#makeRoom(windowEnd, now);
    const segment = this.#take();
    window = this.#find(windowEnd);
    if (window < 0) window = this.#addWindow(windowEnd);
    this.#open(segment, window);
    return segment;
  }

  /** Frees up to `most` segments of windows that are over. */
  reclaim(now: number, most: number): void {
    for (let freed = 0; freed < most; freed++) {
      const window = this.#firstToEnd();
      if (window < 0 || !this.#isOver(window, now)) break;
      this.#freeOne(window, SHARD_EXPIRED);
    }
  }

  /** Makes the lists anew. @param adopt called for each segment that is in use */
  rebuild(adopt: (segment: number) => void): void {
    const ints = this.#ints;
    ints[this.#free] = 0;
    ints[this.#windowsInUse] = 0;
    ints[this.#inUse] = 0;
    for (let segment = 0; segment < this.touched; segment++) {
      if (ints[this.#usedAt(segment)] === 0) {
        this.#release(segment);
        continue;
      }
      const end = this.windowEnd(segment);
      const window = this.#find(end);
      this.#open(segment, window < 0 ? this.#addWindow(end) : window);
      adopt(segment);
    }
  }

  /** Sees to it that a segment is free and that a window of this end has a place. */
  #makeRoom(windowEnd: number, now: number): void {
    const ints = this.#ints;
    // A segment whose window is over is used before memory that was never touched.
    this.reclaim(now, 1);
    if (ints[this.#free] === 0 && this.touched === this.#count) this.#evictOne(now);
    while (ints[this.#windowsInUse] === MAX_WINDOWS && this.#find(windowEnd) < 0) this.#evictOne(now);
  }

  #evictOne(now: number): void {
    const window = this.#firstToEnd();
    this.#freeOne(window, this.#words[window]! * 1000 <= now ? SHARD_EXPIRED : SHARD_EVICTED);
  }

  /**
   * Frees the last full segment of a window, or its only one: a flood of new keys drives out itself, and counters that
   * were there before it stay exact. At most 16 KiB of entries, some 250: 10 µs; a window of any size goes in such
   * steps, which is why there is no pause.
   */
  #freeOne(window: number, reason: Reason): void {
    const ints = this.#ints;
    const head = this.#headOf(window);
    const second = ints[this.#linkAt(head)]! - 1;
    const segment = second >= 0 ? second : head;
    this.#empty(segment, reason);
    ints[this.#usedAt(segment)] = 0; // From here on it is free in a rebuild.
    if (second >= 0) ints[this.#linkAt(head)] = ints[this.#linkAt(segment)]!;
    else this.#removeWindow(window);
    this.#release(segment);
    ints[this.#inUse]! -= 1;
  }

  /** Puts an empty segment on the free list; positions in it are no longer good. */
  #release(segment: number): void {
    this.#words[this.#headers + segment * SEGMENT_HEADER_WORDS]! += 1;
    this.#ints[this.#linkAt(segment)] = this.#ints[this.#free]!;
    this.#ints[this.#free] = segment + 1;
  }

  #take(): number {
    const ints = this.#ints;
    const free = ints[this.#free]! - 1;
    if (free < 0) return ints[this.#touched]!++;
    ints[this.#free] = ints[this.#linkAt(free)]!;
    return free;
  }

  /** Puts a segment at the front of a window's list. */
  #open(segment: number, window: number): void {
    const ints = this.#ints;
    this.#words[this.#headers + segment * SEGMENT_HEADER_WORDS + 1] = this.#words[window]!;
    ints[this.#linkAt(segment)] = ints[(window + 1) * 2]!;
    ints[(window + 1) * 2] = segment + 1;
    ints[this.#inUse]! += 1;
  }

  // --- Windows: rows of their end and their first segment + 1, in no order; there are few

  #headOf(window: number): number {
    return this.#ints[(window + 1) * 2]! - 1;
  }

  #find(end: number): number {
    const last = this.#windows + this.#ints[this.#windowsInUse]! * WINDOW_WORDS;
    for (let window = this.#windows; window < last; window += WINDOW_WORDS)
      if (this.#words[window] === end) return window;
    return -1;
  }

  #addWindow(end: number): number {
    const window = this.#windows + this.#ints[this.#windowsInUse]! * WINDOW_WORDS;
    this.#words[window] = end;
    this.#ints[(window + 1) * 2] = 0;
    this.#ints[this.#windowsInUse]! += 1;
    return window;
  }

  #removeWindow(window: number): void {
    const last = this.#windows + (this.#ints[this.#windowsInUse]! - 1) * WINDOW_WORDS;
    this.#words[window] = this.#words[last]!;
    this.#ints[(window + 1) * 2] = this.#ints[(last + 1) * 2]!;
    this.#ints[this.#windowsInUse]! -= 1;
  }

  /** The window that ends first, -1 where there is none. */
  #firstToEnd(): number {
    const last = this.#windows + this.#ints[this.#windowsInUse]! * WINDOW_WORDS;
    let first = -1;
    let end = Infinity;
    for (let window = this.#windows; window < last; window += WINDOW_WORDS) {
      const candidate = this.#words[window]!;
      if (candidate >= end) continue;
      end = candidate;
      first = window;
    }
    return first;
  }

  #isOver(window: number, now: number): boolean {
    return this.#words[window]! * 1000 + KEEP_AFTER_END <= now;
  }
}
