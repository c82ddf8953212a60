/**
 * One shard of the embedded store: a hash table with chained entries, under one lock.
 *
 * A thread may end between any two writes. So the segments alone are the truth: {@link Shard.rebuild} recreates the
 * buckets and the figures from them, as `segments.ts` recreates its queues.
 */

import type { ExpiryClock } from "../expiry-clock.ts";
import { MAX_COUNT } from "../store.ts";
import { Buckets, writeKey } from "./buckets.ts";
import { Entries } from "./entries.ts";
import { COUNT_WORD, ENTRY_FIELD, entryWords, PROTECTED, USED_AGAIN } from "./entry.ts";
import type { Holds } from "./holds.ts";
import type { KeyScratch } from "./key.ts";
import { type Block, SHARD_LIVE, SHARD_TAKEOVERS } from "./layout.ts";
import { Lock } from "./lock.ts";
import { Room } from "./room.ts";
import { Segments } from "./segments.ts";

/** The marks of an entry that {@link Shard.mark} sets. */
export const MARKS = PROTECTED | USED_AGAIN;
export class Shard {
  readonly index: number;
  readonly words: Float64Array;
  /** The holds of the shard's counters, under the same lock. */
  readonly holds: Holds | undefined;
  protected readonly ints: Int32Array;
  readonly #lock: Lock;
  protected readonly segments: Segments;
  protected readonly buckets: Buckets;
  readonly #entries: Entries;
  protected readonly room: Room;
  /** Word position of the shard. */
  readonly #at: number;

  constructor(block: Block, index: number, ticket: number, clock: ExpiryClock, holds?: Holds) {
    const { layout } = block;
    this.index = index;
    this.words = block.words;
    this.holds = holds;
    this.ints = block.ints;
    this.#at = layout.firstShard + index * layout.shardWords;
    this.#lock = new Lock(block.ints, this.#at * 2, ticket);
    this.segments = new Segments(block, this.#at);
    this.buckets = new Buckets(block, this.#at);
    this.#entries = new Entries(block, this.#at, this.segments, this.buckets);
    this.room = new Room(this.segments, this.#entries, clock);
  }

  // --- The lock. All methods below this section run with the lock held, and none of them throws.

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

  /** Frees the lock if the ticket of an ended thread holds it. Call it without the lock. */
  releaseFor(ticket: number): void {
    if (!this.#lock.takeFrom(ticket)) return;
    this.rebuild();
    this.release();
  }

  // --- Counters

  /** Finds the entry of a key's state with this start. @returns its word position, 0 for none */
  find(key: KeyScratch, start: number): number {
    return this.buckets.find(key, start);
  }

  /**
   * Adds an entry that `find` did not find. May move and drop entries: earlier positions become invalid.
   * @param start start of the state, in seconds; key and start identify it
   * @param length length of the state, in seconds
   * @param isProtected see {@link Shard.mark}
   * @param now milliseconds, by the wall clock
   */
  insert(
    key: KeyScratch,
    start: number,
    length: number,
    count: number,
    isProtected: boolean,
    now: number,
  ): number {
    const field = key.lengthField;
    const size = entryWords(field);
    const end = start + length;
    const segment = this.room.for(length, size, now);
    const entry = this.segments.end(segment);
    writeKey(this.ints, entry, key, field, start, end);
    this.words[entry + COUNT_WORD] = count;
    this.add(entry, segment, size, end);
    if (isProtected) this.protect(entry, true);
    return entry;
  }

  /** Links an entry that was written at the end of a segment. */
  protected add(entry: number, segment: number, size: number, end: number): void {
    this.buckets.add(entry);
    this.words[this.#at + SHARD_LIVE]! += 1;
    this.segments.append(segment, size, end); // From here on it survives a rebuild.
  }

  /**
   * Marks an entry as counted again. Call it after each change of its count.
   * @param isProtected whether its limit is used up: without the entry, its caller would get a fresh limit. Eviction
   *   takes all other entries first.
   */
  mark(entry: number, isProtected: boolean): void {
    const field = this.ints[entry * 2 + ENTRY_FIELD]!;
    // One comparison on the hot path: a counter's marks change only a few times.
    if ((field & MARKS) !== (isProtected ? MARKS : USED_AGAIN)) this.#remark(entry, field, isProtected);
  }

  /**
   * Word position of the generation of an entry's segment. The generation changes when the segment's entries are moved
   * or dropped. The entry's position is valid while this word is the same.
   */
  generationAt(entry: number): number {
    return this.segments.generationAt(this.segments.of(entry));
  }

  /** See {@link Room.reclaim}. */
  reclaim(now: number, examine: number, most: number): void {
    this.room.reclaim(now, examine, most);
  }

  #remark(entry: number, field: number, isProtected: boolean): void {
    this.ints[entry * 2 + ENTRY_FIELD] = field | USED_AGAIN;
    if (((field & PROTECTED) !== 0) !== isProtected) this.protect(entry, isProtected);
  }

  protected protect(entry: number, isProtected: boolean): void {
    this.ints[entry * 2 + ENTRY_FIELD]! ^= PROTECTED;
    this.segments.protect(this.segments.of(entry), isProtected ? 1 : -1);
  }

  // --- Repair

  /**
   * Recreates everything from the segments, after a thread ended with the lock held. 62,500 counters take 2.3 ms, once
   * for each such end.
   */
  rebuild(): void {
    this.buckets.clear();
    this.words[this.#at + SHARD_LIVE] = 0;
    this.segments.rebuild((segment, mayHaveCopies) => this.#entries.adopt(segment, mayHaveCopies));
    this.holds?.rebuild();
    this.words[this.#at + SHARD_TAKEOVERS]! += 1;
  }

  // --- Inspection

  /** Number of segments that were ever used: segments 0 to below this number. Needs no lock. */
  segmentsTouched(): number {
    return this.segments.touched;
  }

  /** Needs no lock. */
  segmentsInUse(): number {
    return this.segments.inUse;
  }

  /** A figure of the shard, for example `SHARD_LIVE` or `SHARD_EVICTED`. Needs no lock. */
  figure(which: number): number {
    return this.words[this.#at + which]!;
  }
}

/** Adds hits to a counter, within 0 to 2^53 - 1. */
export function plus(before: number, hits: number): number {
  return Math.min(Math.max(before + hits, 0), MAX_COUNT);
}
