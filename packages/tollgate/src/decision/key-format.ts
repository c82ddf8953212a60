/** The two formats of cache keys. The composition root chooses one; the other decision code knows only {@link KeyFormat}. */
import type { Entry, Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { Match } from "../rules/rule.ts";
import { cacheKeyStem, type KeyShape, LONGEST_KEYS, WINDOW_START_DIGITS } from "./cache-key.ts";

/** Returns the cache key of a counter without its window start. */
export type KeyFormat = (
  domain: string,
  entries: readonly Entry[],
  match: Pick<Match, "sharedValues">,
  unit: Unit,
  /** Absent for a single limit with a unit only. */
  shape?: KeyShape,
) => string;

export interface KeyFormatOptions {
  /** `CACHE_KEY_FORMAT` */
  readonly format: "tollgate" | "compatible";
  /** `CACHE_KEY_PREFIX` */
  readonly prefix: string;
  readonly backend: keyof typeof LONGEST_KEYS;
  /** `OBJCACHE_LONG_KEYS=fail`: no key is hashed. */
  readonly neverHash?: boolean;
}

/** Bytes of the longest key of the compatible format in a key-value store, window start included. Longer keys are hashed. */
const LONGEST_COMPATIBLE_KEY = 64 * 1024;

export function createKeyFormat({ format, prefix, backend, neverHash = false }: KeyFormatOptions): KeyFormat {
  const longestKey = neverHash ? Number.POSITIVE_INFINITY : LONGEST_KEYS[backend];
  const options = { cacheKeyPrefix: prefix, longestKey };
  const own: KeyFormat = (domain, entries, match, unit, shape) =>
    cacheKeyStem(options, domain, entries, match, unit, shape);
  // No other service shares the counters of this process, so they keep the format without collisions.
  if (format === "tollgate" || backend === "embedded") return own;
  const longest = backend === "kvstore" ? LONGEST_COMPATIBLE_KEY : longestKey;
  return (domain, entries, match, unit, shape) => {
    // The Go service has no limits of other shapes, except calendar months in UTC.
    if (shape !== undefined && (shape.isListed || !isGoShape(shape.part)))
      return own(domain, entries, match, unit, shape);
    const stem = compatibleStem(prefix, domain, entries, match);
    const isUsable = backend === "kvstore" ? stem.isWellFormed() : isMemcachedKey(stem);
    return isUsable && Buffer.byteLength(stem) + WINDOW_START_DIGITS <= longest
      ? stem
      : own(domain, entries, match, unit, shape);
  };
}

const goParts: readonly string[] = [
  ...unitNames.slice(1).map((name) => `${name.toLowerCase()}:`),
  "calendar:month:UTC:",
];

function isGoShape(part: string): boolean {
  return goParts.includes(part);
}

/**
 * The Go service's key without its window start: `<prefix><domain>_<key>_<value>_..._`. Nothing is escaped and the unit is
 * missing, so different counters can have the same key.
 */
function compatibleStem(
  prefix: string,
  domain: string,
  entries: readonly Entry[],
  { sharedValues }: Pick<Match, "sharedValues">,
): string {
  let stem = `${prefix}${domain}_`;
  for (let index = 0; index < entries.length; index++) {
    const { key, value } = entries[index]!;
    stem += `${key}_${sharedValues?.[index] ?? value}_`;
  }
  return stem;
}

/** The Go service cannot count a key with other bytes in memcached, and so has no such counter to share. */
function isMemcachedKey(stem: string): boolean {
  return stem.isWellFormed() && !/[\0- \x7f]/.test(stem);
}
