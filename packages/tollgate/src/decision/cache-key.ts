import { hash } from "node:crypto";
import type { Entry, Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { Match } from "../rules/rule.ts";
import { percentEncode } from "./percent-encode.ts";

// The key's own separators, the hash tag braces of a cluster, what a store's text protocol cannot carry, and the lone
// surrogates that represent bytes which are not UTF-8.
const reserved = /[%|={}\s\p{Cc}\p{Cs}]/u;

/**
 * Encodes a domain, key or value for a cache key. Each byte of a reserved character, and each byte that is not UTF-8,
 * becomes `%XX`. Different texts have different encodings, and the result is valid UTF-8.
 */
export function encodeKeyPart(text: string): string {
  return reserved.test(text) ? percentEncode(text) : text;
}

export interface KeyOptions {
  /** `CACHE_KEY_PREFIX` */
  readonly cacheKeyPrefix: string;
  /** Bytes, window start included. Longer keys are hashed. */
  readonly longestKey: number;
}

/** The longest key of each backend. memcached accepts no longer keys. A key-value store does, but callers choose the length. */
export const LONGEST_KEYS = {
  /** The embedded store hashes long keys itself. */
  embedded: Number.POSITIVE_INFINITY,
  kvstore: 512,
  objcache: 250,
} as const;

/** Window starts are seconds since the epoch: 10 digits from 2001 to 2286. */
export const WINDOW_START_DIGITS = 10;
/** The first 32 of 64 digits: 128 bits are enough to distinguish all stems. */
const HASH_DIGITS = 32;

/** The form of the key of a limit that has more than a unit. */
export interface KeyShape {
  /** Instead of `<unit>:`. */
  readonly part: string;
  /** The limits of a list share one hash tag, so that a cluster keeps their counters together. */
  readonly isListed: boolean;
  /** Whether it is a fixed window that counts all hits. */
  readonly isPlain: boolean;
  /** Bytes of the longest `part` of the list: all keys of a list are hashed, or none. */
  readonly longestPart: number;
}

/**
 * A counter's cache key without its window start: `<prefix><domain>|<key>=<value>|...|<unit>:`, or
 * `<prefix>#<hash>:<unit>:` if the key would be too long. No other key has a `#` there and no `|`.
 * At a level under `share_threshold` the key contains the pattern instead of the value. A listed limit has
 * `{<prefix><domain>|<key>=<value>|...}<part>`, or `{<prefix>#<hash>:}<part>`.
 */
export function cacheKeyStem(
  { cacheKeyPrefix: prefix, longestKey }: KeyOptions,
  domain: string,
  entries: readonly Entry[],
  match: Pick<Match, "sharedValues">,
  unit: Unit,
  shape?: KeyShape,
): string {
  let stem = `${encodeKeyPart(domain)}|`;
  const shared = match.sharedValues;
  for (let index = 0; index < entries.length; index++) {
    const { key, value } = entries[index]!;
    stem += `${encodeKeyPart(key)}=${encodeKeyPart(shared?.[index] ?? value)}|`;
  }
  if (shape?.isListed) return listedStem(prefix, longestKey, stem, shape);
  const window = shape?.part ?? windowText(unit);
  stem += window;
  const room = longestKey - WINDOW_START_DIGITS;
  // A UTF-16 unit is at most 3 bytes of UTF-8, so short keys need no exact byte count.
  const fits =
    (prefix.length + stem.length) * 3 <= room || Buffer.byteLength(prefix) + Buffer.byteLength(stem) <= room;
  if (fits) return prefix + stem;
  return `${prefix}#${hash("sha256", stem).slice(0, HASH_DIGITS)}:${window}`;
}

function listedStem(
  prefix: string,
  longestKey: number,
  stem: string,
  { part, longestPart }: KeyShape,
): string {
  const braces = 2;
  const bytes =
    Buffer.byteLength(prefix) + Buffer.byteLength(stem) + braces + longestPart + WINDOW_START_DIGITS;
  const common = bytes <= longestKey ? stem : `#${hash("sha256", stem).slice(0, HASH_DIGITS)}:`;
  return `{${prefix}${common}}${part}`;
}

/** The end of a stem. */
export function windowText(unit: Unit): string {
  return `${unitNames[unit].toLowerCase()}:`;
}
