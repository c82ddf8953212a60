/**
 * The layout of an entry, in 8-byte words:
 * ```
 * 0  next entry of the bucket (word position, 0: none) | hash      two Int32
 * 1  start of the state | its end, in seconds                      two Int32, read as unsigned: up to the year 2106
 * 2  count                                                         Float64, 0 .. 2^53 - 1
 * 3  length field of the key and marks | first 4 bytes of the key  Int32, bytes
 * 4  the rest of the key
 * n  up to two more words of the state, Float64: the instant of its last change, and a second count
 * ```
 * A plain window has no more words. The algorithms in `algorithms/` say how many their states have.
 *
 * A counter with a key of 44 bytes takes 72 bytes and 8 of buckets. A count at a known position touches words 2 and 3 only.
 */
import { keyBytes } from "./key.ts";

export const COUNT_WORD = 2;
const KEY_WORD = 3;

/** Int32 positions from the start of an entry. */
export const ENTRY_HASH = 1;
export const ENTRY_START = 2;
export const ENTRY_END = 3;
export const ENTRY_FIELD = 6;
export const ENTRY_KEY = 7;

/** The key's length field, below the marks. */
export const LENGTH_FIELD = (1 << 20) - 1;
/** The limit is used up: eviction takes all other entries first. */
export const PROTECTED = 1 << 20;
/** Counted again since it was written or moved: eviction spares the entry once if it can. */
export const USED_AGAIN = 1 << 21;
/**
 * A second copy: its state moved to another entry, or a thread was terminated while it moved the entry. No bucket leads
 * to it.
 */
export const DUPLICATE = 1 << 22;

/** Two bits: the words of the state after the key. */
const MORE_SHIFT = 23;
const MORE_MASK = 3;

/** Words of an entry with this field: the key's first 4 bytes share a word with the field. */
export function entryWords(field: number): number {
  return KEY_WORD + ((keyBytes(field) + 4 + 7) >>> 3) + moreWords(field);
}

/** Words of the state after the key. */
export function moreWords(field: number): number {
  return (field >>> MORE_SHIFT) & MORE_MASK;
}

/** The field of an entry: its key's length field, and the words of its state after the key. */
export function entryField(lengthField: number, more: number): number {
  return lengthField | (more << MORE_SHIFT);
}
