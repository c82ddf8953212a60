/** The segments of one shard, one by one: their positions and their headers. */
import { type Block, SEGMENT_HEADER_WORDS } from "./layout.ts";

/** Word and Int32 positions in a segment header. */
const GENERATION = 0;
const LAST_END = 1;
export const USED = 4;
export const ENTRIES = 5;
export const PROTECTED_ENTRIES = 6;
export const PLACE = 7;
/** Previous and next segment + 1, in the queue or the free list. */
export const PREVIOUS = 8;
export const NEXT = 9;

export class SegmentHeaders {
  protected readonly words: Float64Array;
  protected readonly ints: Int32Array;
  /** Word positions of the first header and of the first segment. */
  readonly #headers: number;
  readonly #first: number;
  /** Words of a segment. */
  readonly size: number;

  /** @param at start of the shard, in words */
  constructor({ layout, words, ints }: Block, at: number) {
    this.words = words;
    this.ints = ints;
    this.#headers = at + layout.segmentHeadersAt;
    this.#first = at + layout.segmentsAt;
    this.size = layout.segmentWords;
  }

  /** The segment of an entry. */
  of(entry: number): number {
    return Math.floor((entry - this.#first) / this.size);
  }

  /** Changes when the segment is opened, moved to another queue or freed. A larger generation is younger. */
  generation(segment: number): number {
    return this.words[this.generationAt(segment)]!;
  }

  /** Word position. */
  generationAt(segment: number): number {
    return this.#headers + segment * SEGMENT_HEADER_WORDS + GENERATION;
  }

  /** The latest end of its states, in seconds. */
  lastEnd(segment: number): number {
    return this.words[this.#headers + segment * SEGMENT_HEADER_WORDS + LAST_END]!;
  }

  /** Word position of the segment's first entry. */
  start(segment: number): number {
    return this.#first + segment * this.size;
  }

  /** Word position after the last entry, for the next one. */
  end(segment: number): number {
    return this.start(segment) + this.used(segment);
  }

  /** Words in use; 0 for a free segment. */
  used(segment: number): number {
    return this.ints[this.header(segment) + USED]!;
  }

  fits(segment: number, words: number): boolean {
    return this.used(segment) + words <= this.size;
  }

  unprotectedEntries(segment: number): number {
    const header = this.header(segment);
    return this.ints[header + ENTRIES]! - this.ints[header + PROTECTED_ENTRIES]!;
  }

  /** Includes the entry that was written at the segment's end. @param end end of the entry's state, in seconds */
  append(segment: number, words: number, end: number): void {
    const lastEnd = this.#headers + segment * SEGMENT_HEADER_WORDS + LAST_END;
    if (end > this.words[lastEnd]!) this.words[lastEnd] = end;
    const header = this.header(segment);
    this.ints[header + ENTRIES]! += 1;
    this.ints[header + USED]! += words;
  }

  /** Sets the figures of a rebuild. */
  recount(segment: number, entries: number, protectedEntries: number): void {
    const header = this.header(segment);
    this.ints[header + ENTRIES] = entries;
    this.ints[header + PROTECTED_ENTRIES] = protectedEntries;
  }

  /** Prepares the header of a formerly free segment. */
  protected clear(segment: number): void {
    this.recount(segment, 0, 0);
    this.words[this.#headers + segment * SEGMENT_HEADER_WORDS + LAST_END] = 0;
  }

  protected setGeneration(segment: number, generation: number): void {
    this.words[this.generationAt(segment)] = generation;
  }

  /** Int32 position of a header. */
  protected header(segment: number): number {
    return (this.#headers + segment * SEGMENT_HEADER_WORDS) * 2;
  }
}
