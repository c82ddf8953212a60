/** One shard with the states of limits of any algorithm: entries of one to three words. */
import type { LimitState } from "../algorithms/algorithm.ts";
import { writeKey } from "./buckets.ts";
import {
  COUNT_WORD,
  DUPLICATE,
  ENTRY_END,
  ENTRY_FIELD,
  entryField,
  entryWords,
  LENGTH_FIELD,
  moreWords,
  PROTECTED,
} from "./entry.ts";
import type { KeyScratch } from "./key.ts";
import { MARKS, Shard } from "./shard.ts";
import { type ShownEntry, visitEntries } from "./shown-entries.ts";

/** An entry holds its end in 32 bits. */
const LAST_END = 2 ** 32 - 1;

/** The times of a state, and the longest life of such states. In seconds. */
export interface Lifetime {
  /** Start of the state. Key and start identify it. */
  readonly start: number;
  readonly end: number;
  /** Chooses the list of segments. */
  readonly length: number;
}

/** All methods run with the lock held, and none of them throws. */
export class StateShard extends Shard {
  /** `insert` for a state of 1 to 3 words. */
  insertState(
    key: KeyScratch,
    { start, end, length }: Lifetime,
    state: LimitState,
    words: number,
    isProtected: boolean,
    now: number,
  ): void {
    const field = entryField(key.lengthField, words - 1);
    const size = entryWords(field);
    const last = Math.min(end, LAST_END);
    const segment = this.room.for(length, size, now);
    const entry = this.segments.end(segment);
    writeKey(this.ints, entry, key, field, start, last);
    this.#write(entry, size, words, state);
    this.add(entry, segment, size, last);
    if (isProtected) this.protect(entry, true);
  }

  /** Reads the state of an entry. Fields that the entry does not have become 0. */
  readState(entry: number, state: LimitState): void {
    const { words } = this;
    const field = this.ints[entry * 2 + ENTRY_FIELD]!;
    const more = moreWords(field);
    const after = entry + entryWords(field) - more;
    state.level = words[entry + COUNT_WORD]!;
    state.at = more > 0 ? words[after]! : 0;
    state.previous = more > 1 ? words[after + 1]! : 0;
  }

  /** Whether the entry ends before its state does, so that only `moveState` can write the state. */
  endsBefore(entry: number, end: number): boolean {
    return Math.min(end, LAST_END) > this.ints[entry * 2 + ENTRY_END]! >>> 0;
  }

  /** Whether the entry has all words of a state. If not, only `moveState` can write it. */
  hasRoom(entry: number, { previous }: LimitState): boolean {
    return previous === 0 || moreWords(this.ints[entry * 2 + ENTRY_FIELD]!) > 1;
  }

  /** Writes a state that ends with its entry, or before it. */
  writeState(entry: number, state: LimitState, isProtected: boolean): void {
    const field = this.ints[entry * 2 + ENTRY_FIELD]!;
    this.#write(entry, entryWords(field), moreWords(field) + 1, state);
    this.mark(entry, isProtected);
  }

  /**
   * Writes a state that ends after its entry, or has more words. The state gets a new entry in the newest segment of its list: so the
   * segments of a list end in order, and one state that goes on does not keep a whole segment. May move and drop other
   * entries: earlier positions become invalid.
   */
  moveState(
    entry: number,
    { end, length }: Lifetime,
    state: LimitState,
    isProtected: boolean,
    now: number,
  ): void {
    const { words } = this;
    const ints = this.ints;
    const last = Math.min(end, LAST_END);
    const oldField = ints[entry * 2 + ENTRY_FIELD]! & ~MARKS;
    const old = words.slice(entry, entry + entryWords(oldField));
    const field = this.hasRoom(entry, state) ? oldField : entryField(oldField & LENGTH_FIELD, 2);
    const size = entryWords(field);
    const generationAt = this.generationAt(entry);
    const generation = words[generationAt]!;
    const segment = this.room.for(length, size, now);
    const copy = this.segments.end(segment);
    words.set(old, copy);
    ints[copy * 2 + ENTRY_FIELD] = field;
    ints[copy * 2 + ENTRY_END] = last | 0;
    this.#write(copy, size, moreWords(field) + 1, state);
    const from = words[generationAt] === generation ? entry : this.buckets.twinOf(copy);
    if (from === 0) this.add(copy, segment, size, last);
    else {
      this.buckets.replace(from, copy);
      this.segments.append(segment, size, last); // A rebuild finds the copy first, since its segment is younger.
      if ((ints[from * 2 + ENTRY_FIELD]! & PROTECTED) !== 0) this.protect(from, false);
      ints[from * 2 + ENTRY_FIELD]! |= DUPLICATE;
    }
    if (isProtected) this.protect(copy, true);
  }

  #write(entry: number, size: number, words: number, { at, level, previous }: LimitState): void {
    const after = entry + size - words + 1;
    if (words > 2) this.words[after + 1] = previous;
    this.words[entry + COUNT_WORD] = level;
    if (words > 1) this.words[after] = at;
  }

  /** Visits the entries of a segment. All visits get the same object. */
  forEach(segment: number, visit: (entry: ShownEntry) => void): void {
    visitEntries({ words: this.words, ints: this.ints }, this.segments, segment, visit);
  }
}
