/**
 * The segments of one shard: their headers, the free ones, and the lists of those in use.
 *
 * Each list has two queues, oldest segment first. New entries go to the end of the *ordinary* queue. A full segment
 * whose entries are all protected moves to the end of the *protected* queue, and back to the front of the ordinary one
 * when an entry loses its protection. So eviction always finds an unprotected entry in the first ordinary segment.
 *
 * All methods run under the shard's lock and never throw. A thread may end between any two writes: `rebuild` then
 * recreates the queues from the headers of the segments in use.
 */
import {
  type Block,
  LIST_WORDS,
  SHARD_CLASSES,
  SHARD_GENERATION,
  SHARD_IN_USE,
  SHARD_LISTS,
  SHARD_SEGMENTS,
} from "./layout.ts";
import { CLASS_COUNT, classOf, LIST_COUNT } from "./lists.ts";
import { NEXT, PLACE, PREVIOUS, PROTECTED_ENTRIES, SegmentHeaders, USED } from "./segment-headers.ts";

/** A segment's place: its list, plus a bit for the protected queue. */
const PROTECTED_QUEUE = 8;
const LIST_MASK = 7;

export class Segments extends SegmentHeaders {
  readonly count: number;
  /** Word position. */
  readonly #generation: number;
  /** Int32 positions. */
  readonly #free: number;
  readonly #touched: number;
  readonly #inUse: number;
  readonly #moving: number;
  readonly #classes: number;
  readonly #queues: number;

  /** @param at start of the shard, in words */
  constructor(block: Block, at: number) {
    super(block, at);
    this.count = block.layout.segments;
    this.#generation = at + SHARD_GENERATION;
    this.#free = (at + SHARD_SEGMENTS) * 2;
    this.#touched = this.#free + 1;
    this.#inUse = (at + SHARD_IN_USE) * 2;
    this.#moving = this.#inUse + 1;
    this.#classes = (at + SHARD_CLASSES) * 2;
    this.#queues = (at + SHARD_LISTS) * 2;
  }

  /** The list of a segment. */
  listOf(segment: number): number {
    return this.ints[this.header(segment) + PLACE]! & LIST_MASK;
  }

  /** Counts an entry that gained (1) or lost (-1) its protection. */
  protect(segment: number, change: 1 | -1): void {
    this.ints[this.header(segment) + PROTECTED_ENTRIES]! += change;
    this.#settle(segment);
  }

  // --- All segments

  /** Number of segments that were ever used: segments 0 to below this number. */
  get touched(): number {
    return this.ints[this.#touched]!;
  }

  get inUse(): number {
    return this.ints[this.#inUse]!;
  }

  get available(): number {
    return this.count - this.inUse;
  }

  /** Segments of a class. */
  ofClass(index: number): number {
    return this.ints[this.#classes + index]!;
  }

  /** The oldest segment of a list's ordinary or protected queue, -1 for none. */
  oldest(list: number, isProtected: boolean): number {
    return this.ints[this.#queue(isProtected ? list | PROTECTED_QUEUE : list)]! - 1;
  }

  /** The segment that takes a list's new entries, -1 for none. */
  newest(list: number): number {
    return this.ints[this.#queue(list) + 1]! - 1;
  }

  // --- Opening and freeing

  /** Makes a free segment the newest one of a list. A segment must be free. */
  open(list: number): number {
    const ints = this.ints;
    const free = ints[this.#free]! - 1;
    const segment = free < 0 ? ints[this.#touched]!++ : free;
    if (free >= 0) ints[this.#free] = ints[this.header(segment) + NEXT]!;
    this.clear(segment);
    ints[this.#inUse]! += 1;
    const before = this.newest(list);
    this.#link(segment, list);
    if (before >= 0) this.#settle(before);
    return segment;
  }

  /**
   * The segment for an entry that moves within its list. There always is one: `room.ts` keeps a segment free for the
   * entries of one segment.
   */
  forMoved(list: number, words: number): number {
    const newest = this.newest(list);
    return newest >= 0 && this.fits(newest, words) ? newest : this.open(list);
  }

  /** Removes a segment from its queue before its entries are moved or dropped. */
  detach(segment: number): void {
    this.ints[this.#moving] = segment + 1;
    this.#unlink(segment);
  }

  /** Frees a detached segment. No bucket may still lead to its entries. */
  free(segment: number): void {
    const ints = this.ints;
    ints[this.header(segment) + USED] = 0; // From here on a rebuild treats it as free.
    ints[this.#moving] = 0;
    this.#release(segment);
    ints[this.#inUse]! -= 1;
  }

  #release(segment: number): void {
    this.#renew(segment);
    this.ints[this.header(segment) + NEXT] = this.ints[this.#free]!;
    this.ints[this.#free] = segment + 1;
  }

  #renew(segment: number): void {
    const next = this.words[this.#generation]! + 1;
    this.words[this.#generation] = next;
    this.setGeneration(segment, next);
  }

  /**
   * Recreates the free list and the queues, in the order of age.
   * @param adopt counts and links the entries of a segment. The segment whose entries were being moved is the last
   *   one: some of its entries may have a copy elsewhere.
   */
  rebuild(adopt: (segment: number, mayHaveCopies: boolean) => void): void {
    const ints = this.ints;
    const moving = ints[this.#moving]! - 1;
    ints[this.#free] = 0;
    ints[this.#inUse] = 0;
    ints.fill(0, this.#classes, this.#classes + CLASS_COUNT);
    ints.fill(0, this.#queues, this.#queues + LIST_COUNT * LIST_WORDS * 2);
    const used: number[] = [];
    for (let segment = 0; segment < this.touched; segment++)
      if (this.used(segment) === 0) this.#release(segment);
      else used.push(segment);
    used.sort((a, b) => this.generation(a) - this.generation(b));
    ints[this.#inUse] = used.length;
    for (const segment of used) {
      this.#link(segment, this.listOf(segment));
      if (segment !== moving) adopt(segment, false);
    }
    if (used.includes(moving)) adopt(moving, true);
    for (const segment of used) this.#settle(segment);
    ints[this.#moving] = 0;
  }

  // --- Queues

  /** Int32 position of a queue's first segment + 1. The last segment + 1 follows. */
  #queue(place: number): number {
    return this.#queues + ((place & LIST_MASK) * LIST_WORDS + (place >> 3)) * 2;
  }

  /** Moves a segment to the queue where it belongs. */
  #settle(segment: number): void {
    const place = this.ints[this.header(segment) + PLACE]!;
    const belongs = this.unprotectedEntries(segment) === 0;
    if (belongs === place >= PROTECTED_QUEUE) return;
    const list = place & LIST_MASK;
    if (belongs && this.newest(list) === segment) return;
    this.#unlink(segment);
    if (belongs) this.#link(segment, list | PROTECTED_QUEUE);
    else this.#linkFirst(segment, list);
  }

  #link(segment: number, place: number): void {
    const ints = this.ints;
    const queue = this.#queue(place);
    const header = this.header(segment);
    const last = ints[queue + 1]!;
    ints[header + PLACE] = place;
    ints[header + PREVIOUS] = last;
    ints[header + NEXT] = 0;
    if (last > 0) ints[this.header(last - 1) + NEXT] = segment + 1;
    else ints[queue] = segment + 1;
    ints[queue + 1] = segment + 1;
    ints[this.#classes + classOf(place & LIST_MASK)]! += 1;
    this.#renew(segment);
  }

  #linkFirst(segment: number, place: number): void {
    const ints = this.ints;
    const queue = this.#queue(place);
    const header = this.header(segment);
    const first = ints[queue]!;
    ints[header + PLACE] = place;
    ints[header + PREVIOUS] = 0;
    ints[header + NEXT] = first;
    if (first > 0) ints[this.header(first - 1) + PREVIOUS] = segment + 1;
    else ints[queue + 1] = segment + 1;
    ints[queue] = segment + 1;
    ints[this.#classes + classOf(place & LIST_MASK)]! += 1;
  }

  #unlink(segment: number): void {
    const ints = this.ints;
    const header = this.header(segment);
    const place = ints[header + PLACE]!;
    const queue = this.#queue(place);
    const previous = ints[header + PREVIOUS]!;
    const next = ints[header + NEXT]!;
    if (previous > 0) ints[this.header(previous - 1) + NEXT] = next;
    else ints[queue] = next;
    if (next > 0) ints[this.header(next - 1) + PREVIOUS] = previous;
    else ints[queue + 1] = previous;
    ints[this.#classes + classOf(place & LIST_MASK)]! -= 1;
  }
}
