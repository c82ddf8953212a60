/** Shows the entries of one shard's segments. */
import {
  COUNT_WORD,
  DUPLICATE,
  ENTRY_END,
  ENTRY_FIELD,
  ENTRY_KEY,
  ENTRY_START,
  entryWords,
  LENGTH_FIELD,
  moreWords,
  PROTECTED,
} from "./entry.ts";
import type { Segments } from "./segments.ts";

interface Views {
  readonly words: Float64Array;
  readonly ints: Int32Array;
}

const noWords = new Float64Array(0);

/** An entry as passed to `forEach`'s visitor. Times in seconds. */
export interface ShownEntry {
  start: number;
  end: number;
  count: number;
  /** The words of its state after the key, up to two. */
  more: Float64Array;
  isProtected: boolean;
  lengthField: number;
  /** Position of the key's first byte in the block. */
  keyAt: number;
}

/** Visits the entries of a segment. All visits get the same object. */
export function visitEntries(
  { words, ints }: Views,
  segments: Segments,
  segment: number,
  visit: (entry: ShownEntry) => void,
): void {
  const shown: ShownEntry = {
    start: 0,
    end: 0,
    count: 0,
    more: noWords,
    isProtected: false,
    lengthField: 0,
    keyAt: 0,
  };
  const end = segments.end(segment);
  for (
    let entry = segments.start(segment);
    entry < end;
    entry += entryWords(ints[entry * 2 + ENTRY_FIELD]!)
  ) {
    const at = entry * 2;
    const field = ints[at + ENTRY_FIELD]!;
    if ((field & DUPLICATE) !== 0) continue;
    shown.start = ints[at + ENTRY_START]! >>> 0;
    shown.end = ints[at + ENTRY_END]! >>> 0;
    shown.count = words[entry + COUNT_WORD]!;
    const more = moreWords(field);
    const next = entry + entryWords(field);
    shown.more = more === 0 ? noWords : words.slice(next - more, next);
    shown.isProtected = (field & PROTECTED) !== 0;
    shown.lengthField = field & LENGTH_FIELD;
    shown.keyAt = (at + ENTRY_KEY) * 4;
    visit(shown);
  }
}
