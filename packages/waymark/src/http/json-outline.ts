import { CLOSE_OBJECT, COLON, endOfString, OBJECT_BIT, OPEN_OBJECT, QUOTE } from "./json-members.ts";

/** Sizes of a JSON text, known before anything is allocated for its value. */
export interface JsonOutline {
  /** Number of members of all objects. */
  members: number;
  /** Number of objects and lists. */
  containers: number;
  /** Number of members of the largest object. */
  largest: number;
  /** Largest number of objects and lists inside each other. */
  depth: number;
}

/** Members so far of each open object. The length is a power of two and exceeds the depth of any parsed text. */
const openMembers = new Uint32Array(1024);
const DEPTH_MASK = openMembers.length - 1;

/** Outlines a JSON text. The numbers for malformed text are meaningless: `JSON.parse` rejects it. */
export function outlineJson(text: string): JsonOutline {
  const { length } = text;
  let members = 0;
  let containers = 0;
  let largest = 0;
  let open = 0;
  let depth = 0;
  openMembers[0] = 0;
  for (let at = 0; at < length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at + 1);
    // Digits, commas and white space have lower codes than the colon.
    else if (char < COLON) continue;
    else if (char === COLON) {
      members++;
      const own = ++openMembers[open & DEPTH_MASK]!;
      if (own > largest) largest = own;
    } else if ((char | OBJECT_BIT) === OPEN_OBJECT) {
      containers++;
      openMembers[(open + 1) & DEPTH_MASK] = 0;
      if (++open > depth) depth = open;
    } else if ((char | OBJECT_BIT) === CLOSE_OBJECT) open--;
  }
  return { members, containers, largest, depth };
}
