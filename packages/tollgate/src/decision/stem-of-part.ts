import { hashOfBytes, hashOfText } from "../counters/stem-hash.ts";
import type { PreparedPart } from "./prepared.ts";
import type { Scratch } from "./scratch.ts";

/** Returns the hash of the key of a part's counter, or of its first counter; undefined if nothing is counted. */
export function hashOfStem(
  { resolution: { stem, stems }, stemStart, stemEnd }: PreparedPart,
  { words }: Scratch,
  seed: number,
): number | undefined {
  const text = stems.length > 0 ? stems[0]! : stem;
  if (text !== "") return hashOfText(text, seed);
  return stemEnd > stemStart ? hashOfBytes(words, stemStart, stemEnd, seed) : undefined;
}
