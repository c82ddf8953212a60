import { randomInt } from "node:crypto";
import { hashOfBytes, hashOfText } from "../stem-hash.ts";
import type { Count } from "../store.ts";

/** The stem of a counter, as a text or in its place. */
export type Stem = Pick<Count, "stem" | "place">;

const seed = randomInt(2 ** 32);

export function hashOf({ stem, place }: Stem): number {
  return place === undefined
    ? hashOfText(stem, seed)
    : hashOfBytes(place.words, place.start, place.end, seed);
}

/** The hash of a whole key, for the table of expiries. */
export function hashOfKey(hashOfStem: number, windowStart: number): number {
  const mixed = Math.imul(hashOfStem ^ windowStart, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** Whether two stems are equal. */
export function areEqual(one: Stem, other: Stem): boolean {
  const { place } = one;
  const { place: otherPlace } = other;
  if (place === undefined || otherPlace === undefined) return textOf(one) === textOf(other);
  const length = place.end - place.start;
  if (length !== otherPlace.end - otherPlace.start) return false;
  for (let at = 0; at < length; at++)
    if (place.bytes[place.start + at] !== otherPlace.bytes[otherPlace.start + at]) return false;
  return true;
}

export function lengthOf({ stem, place }: Stem): number {
  return place === undefined ? stem.length : place.end - place.start;
}

/** The text of a stem. */
export function textOf({ stem, place }: Stem): string {
  if (place === undefined) return stem;
  return Buffer.from(place.bytes.subarray(place.start, place.end)).toString("latin1");
}
