/**
 * Estimates the memory of cached values: never less than what V8 uses, and at most about three times as much.
 * `kept-bytes.test.ts` measures both bounds.
 */
import type { Prepared } from "./prepared.ts";
import type { Resolution, Resolved } from "./resolve.ts";

/** A descriptor, its empty list of entries, and its place in a cache. */
const DESCRIPTOR = 384;
/** V8 allocates room for 17 entries with the first one. */
const LIST = 160;
/** An entry and the headers of its two strings. */
const ENTRY = 112;
/** The rule made of a request's own limit, and its lists. */
const OWN_RULE = 480;
/** The request, its lists, the response and the request to the store. */
const REQUEST = 1024;
/** A prepared descriptor, its count and its status. */
const PART = 336;
/** V8 uses two bytes for each character of a string that has one above U+00FF. */
const CHARACTER = 2;

/** Of a cached resolution with its descriptor. */
export function resolutionBytes(domain: string, descriptor: Resolved, { stem }: Resolution): number {
  return CHARACTER * (domain.length + stem.length) + descriptorBytes(descriptor);
}

/** Of a cached request with its prepared descriptors and its scratch objects. */
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
  // The rule's path and metric key hold each key and value once more, joined.
  return limit === undefined ? own : own + OWN_RULE + ENTRY * entries.length + CHARACTER * characters;
}
