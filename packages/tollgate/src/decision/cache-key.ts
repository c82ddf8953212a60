import { hash } from "node:crypto";
import type { Entry, Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { Match } from "../rules/rule.ts";
import { percentEncode } from "./percent-encode.ts";

// The key's own separators, the hash tag braces of a cluster, what a store's text protocol cannot carry, and the lone
// surrogates that stand for bytes which are not UTF-8.
const reserved = /[%|={}\s\p{Cc}\p{Cs}]/u;

/**
 * A domain, key or value as it is written in a cache key: reserved characters and bytes that are not UTF-8 as `%XX`, a
 * byte each. Different texts are never written alike, and the result is valid UTF-8.
 */
export function encodeKeyPart(text: string): string {
  return reserved.test(text) ? percentEncode(text) : text;
}

export interface KeyOptions {
  /** `CACHE_KEY_PREFIX` */
  readonly cacheKeyPrefix: string;
  /** Bytes of the longest key that is stored as it is, its window start included. */
  readonly longestKey: number;
}

/** Longest keys of the backends: memcached holds no more; a key-value store would, but keys are as long as callers make them. */
export const LONGEST_KEYS = {
  /** Hashes long keys itself. */
  embedded: Number.POSITIVE_INFINITY,
  kvstore: 512,
  objcache: 250,
} as const;

/** Window starts are seconds since the epoch: 10 digits from 2001 to 2286. */
const WINDOW_START_DIGITS = 10;
/** Of 64: 128 bits tell any two stems apart. */
const HASH_DIGITS = 32;

/**
 * A counter's cache key without its window start: `<prefix><domain>|<key>=<value>|...|<unit>:`, or
 * `<prefix>#<hash>:<unit>:` where the key would be too long. No other key has a `#` there and no `|`.
 * At a level under `share_threshold` the pattern stands in for the value.
 */
export function cacheKeyStem(
  { cacheKeyPrefix: prefix, longestKey }: KeyOptions,
  domain: string,
  entries: readonly Entry[],
  match: Pick<Match, "sharedValues">,
  unit: Unit,
): string {
  let stem = `${encodeKeyPart(domain)}|`;
  const shared = match.sharedValues;
  for (let index = 0; index < entries.length; index++) {
    const { key, value } = entries[index]!;
    stem += `${encodeKeyPart(key)}=${encodeKeyPart(shared?.[index] ?? value)}|`;
  }
  const window = `${unitNames[unit].toLowerCase()}:`;
  stem += window;
  const room = longestKey - WINDOW_START_DIGITS;
  // A UTF-16 unit is at most 3 bytes of UTF-8: short keys need no closer look at their size.
  const fits =
    (prefix.length + stem.length) * 3 <= room || Buffer.byteLength(prefix) + Buffer.byteLength(stem) <= room;
  if (fits) return prefix + stem;
  return `${prefix}#${hash("sha256", stem).slice(0, HASH_DIGITS)}:${window}`;
}
