/**
 * The memory that caches of decisions take: never less than V8 uses, at most some three times as much. Measured by
 * `kept-bytes.test.ts`.
 */
import type { Descriptor } from "../protocol/messages.ts";
import type { Prepared } from "./prepare.ts";
import type { Resolution } from "./resolve.ts";

/** A descriptor, its empty list of entries, and its place in a cache. */
const DESCRIPTOR = 384;
/** The list of entries has room for 17 as soon as it has one. */
const LIST = 160;
/** An entry and the headers of its two texts. */
const ENTRY = 112;
/** A rule that a request brought with it, and its lists. */
const OWN_RULE = 480;
/** The request, its lists, the answer and the store's request. */
const REQUEST = 1024;
/** What a descriptor comes down to, its count and its status. */
const PART = 336;
/** V8 takes two bytes for each character of a text with one above U+00FF. */
const CHARACTER = 2;

type Resolved = Pick<Descriptor, "entries" | "limit">;

/** A kept resolution with the descriptor that it belongs to. */
export function resolutionBytes(domain: string, descriptor: Resolved, { stem }: Resolution): number {
  return CHARACTER * (domain.length + stem.length) + descriptorBytes(descriptor);
}

/** A kept request with what its descriptors come down to, and what the last decision worked with. */
export function preparedBytes(messageLength: number, { request, parts }: Prepared): number {
  let bytes = REQUEST + messageLength + CHARACTER * request.domain.length;
  for (let index = 0; index < parts.length; index++) {
    bytes += PART + CHARACTER * parts[index]!.stem.length + descriptorBytes(request.descriptors[index]!);
  }
  return bytes;
}

function descriptorBytes({ entries, limit }: Resolved): number {
  let characters = 0;
  for (const { key, value } of entries) characters += key.length + value.length;
  const list = entries.length === 0 ? 0 : LIST;
  const own = DESCRIPTOR + list + ENTRY * entries.length + CHARACTER * characters;
  // The rule's path and metric key hold each text once more, put together of two.
  return limit === undefined ? own : own + OWN_RULE + ENTRY * entries.length + CHARACTER * characters;
}
