/**
 * Makes space for new entries in one shard: reclaims ended states, and evicts if the shard is full.
 *
 * A full shard evicts, in this order:
 *
 * 1. A segment whose states have all ended by the wall clock.
 * 2. Unprotected entries: the oldest of the largest class, among the classes above their guaranteed share.
 * 3. Protected entries, chosen in the same way.
 *
 * Eviction works on one segment at a time. Protected entries of a segment move to the newest segment of their list,
 * and so do entries that were counted again, up to 7/8 of the unprotected ones. The size of a segment bounds one step
 * (8 KiB, some 110 entries: 10 to 30 µs).
 */
import type { ExpiryClock } from "../expiry-clock.ts";
import { type Entries, hasEnded } from "./entries.ts";
import { CLASS_COUNT, classOf, guaranteedSegments, LIST_COUNT, listOf } from "./lists.ts";
import type { Segments } from "./segments.ts";

/** Segments that stay free: moving the entries of one segment may need another one. */
const RESERVE = 1;
/** Free segments that a full shard restores, one step with each new entry: see {@link Room.#spare}. */
const MAX_SPARE = 8;
/** Words that the steps for one new entry may examine. After that, protected entries are dropped. Only unusual entry sizes cause that. */
const MAX_WORK = 8192;

export class Room {
  readonly #segments: Segments;
  readonly #entries: Entries;
  readonly #clock: ExpiryClock;
  readonly #guaranteed: number;
  /**
   * A mostly protected segment frees little space. Restoring free segments in advance spreads the work over many new
   * entries.
   */
  readonly #spare: number;
  readonly #maxSteps: number;
  #sweep = 0;

  constructor(segments: Segments, entries: Entries, clock: ExpiryClock) {
    this.#segments = segments;
    this.#entries = entries;
    this.#clock = clock;
    this.#guaranteed = guaranteedSegments(segments.count);
    this.#spare = Math.min(MAX_SPARE, RESERVE + 1 + (segments.count >> 7));
    this.#maxSteps = MAX_WORK / segments.size;
  }

  /**
   * The segment for a new entry. May move and drop other entries.
   * @param length length of the state, in seconds
   * @param words the entry's size
   * @param now milliseconds, by the wall clock
   */
  for(length: number, words: number, now: number): number {
    const segments = this.#segments;
    const list = listOf(length);
    if (segments.available < this.#spare) this.#step(now);
    for (let steps = 0; ; steps++) {
      const newest = segments.newest(list);
      if (newest >= 0 && segments.fits(newest, words)) return newest;
      // Reuse a segment of ended states before touching new memory.
      if (steps === 0) this.#reclaimOldest(now);
      if (segments.available > RESERVE) return segments.open(list);
      if (steps >= this.#maxSteps) this.#drop(this.#victim(true), now);
      else this.#step(now);
    }
  }

  /**
   * Frees segments whose states have all ended.
   * @param now milliseconds, by the wall clock
   * @param examine segments to examine; the next call continues after them
   * @param most segments to free
   */
  reclaim(now: number, examine: number, most: number): void {
    const segments = this.#segments;
    const limit = this.#clock.limit(now);
    let freed = 0;
    for (let steps = Math.min(examine, segments.touched); steps > 0 && freed < most; steps--) {
      this.#sweep = (this.#sweep + 1) % segments.touched;
      if (segments.used(this.#sweep) === 0 || !hasEnded(segments.lastEnd(this.#sweep), limit)) continue;
      this.#drop(this.#sweep, now);
      freed += 1;
    }
  }

  #reclaimOldest(now: number): void {
    const ended = this.#ended(this.#clock.limit(now));
    if (ended >= 0) this.#drop(ended, now);
  }

  #step(now: number): void {
    const ended = this.#ended(now);
    if (ended >= 0) {
      this.#drop(ended, now);
      return;
    }
    const victim = this.#victim(false);
    if (victim < 0) {
      this.#drop(this.#victim(true), now);
      return;
    }
    this.#segments.detach(victim);
    this.#entries.drain(victim, now);
    this.#segments.free(victim);
  }

  #drop(segment: number, now: number): void {
    this.#segments.detach(segment);
    this.#entries.drop(segment, now);
    this.#segments.free(segment);
  }

  /** A segment at the front of a queue whose states have all ended, -1 for none. */
  #ended(limit: number): number {
    const segments = this.#segments;
    for (let list = 0; list < LIST_COUNT; list++)
      for (const isProtected of [false, true]) {
        const oldest = segments.oldest(list, isProtected);
        if (oldest >= 0 && hasEnded(segments.lastEnd(oldest), limit)) return oldest;
      }
    return -1;
  }

  /**
   * The segment to evict from, -1 for none.
   * @param isProtected whether to include protected entries. There always is such a segment, because the guaranteed
   *   shares add up to a quarter of the shard.
   */
  #victim(isProtected: boolean): number {
    const segments = this.#segments;
    let victim = -1;
    let most = this.#guaranteed;
    for (let index = 0; index < CLASS_COUNT; index++) {
      if (segments.ofClass(index) <= most) continue;
      const candidate = this.#oldestOf(index, isProtected);
      if (candidate < 0) continue;
      victim = candidate;
      most = segments.ofClass(index);
    }
    return victim;
  }

  #oldestOf(index: number, isProtected: boolean): number {
    const segments = this.#segments;
    let oldest = -1;
    for (let list = 0; list < LIST_COUNT; list++) {
      if (classOf(list) !== index) continue;
      let candidate = isProtected ? segments.oldest(list, true) : -1;
      if (candidate < 0) candidate = segments.oldest(list, false);
      if (candidate < 0 || (!isProtected && segments.unprotectedEntries(candidate) === 0)) continue;
      if (oldest < 0 || segments.generation(candidate) < segments.generation(oldest)) oldest = candidate;
    }
    return oldest;
  }
}
