/** The two formats of cache keys. The composition root chooses one; the other decision code knows only {@link KeyFormat}. */
import type { Entry, Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { Match } from "../rules/rule.ts";
import {
  cacheKeyStem,
  encodeKeyPart,
  type KeyShape,
  LONGEST_KEYS,
  WINDOW_START_DIGITS,
  windowText,
} from "./cache-key.ts";

/** Returns the cache key of a counter without its window start. */
export interface KeyFormat {
  /** @param shape absent for a single limit with a number, a unit and a name */
  (
    domain: string,
    entries: readonly Entry[],
    match: Pick<Match, "sharedValues">,
    unit: Unit,
    shape?: KeyShape,
  ): string;
  readonly inPlace: KeyInPlace;
}

/**
 * The same format for code that writes keys from bytes: `<head><key><afterKey><value><afterValue>...<tail>`. It applies if
 * all bytes of the keys and values are plain, and the key is not too long.
 */
export interface KeyInPlace {
  /** Undefined if the keys of this domain must be made from texts. */
  head(domain: string): string | undefined;
  /** ASCII. */
  readonly afterKey: number;
  readonly afterValue: number;
  tail(unit: Unit): string;
  /** For each byte: 1 if the format writes it as it is. */
  readonly isPlain: Uint8Array;
  /** Bytes, window start included. */
  readonly longestKey: number;
  /** Whether the keys of other {@link KeyShape}s differ in their ends only. */
  readonly hasShapes: boolean;
}

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
  const own = Object.assign(
    (...[domain, entries, match, unit, shape]: Parameters<KeyFormat>) =>
      cacheKeyStem(options, domain, entries, match, unit, shape),
    { inPlace: ownInPlace(prefix, longestKey) },
  );
  // No other service shares the counters of this process, so they keep the format without collisions.
  if (format === "tollgate" || backend === "embedded") return own;
  const longest = backend === "kvstore" ? LONGEST_COMPATIBLE_KEY : longestKey;
  const isUsable = backend === "kvstore" ? (stem: string) => stem.isWellFormed() : isMemcachedKey;
  return Object.assign(
    (...[domain, entries, match, unit, shape]: Parameters<KeyFormat>) => {
      if (shape !== undefined && !isGoShape(shape)) return own(domain, entries, match, unit, shape);
      const stem = compatibleStem(prefix, domain, entries, match);
      return isUsable(stem) && Buffer.byteLength(stem) + WINDOW_START_DIGITS <= longest
        ? stem
        : own(domain, entries, match, unit, shape);
    },
    {
      inPlace: {
        head: (domain: string) => usableHead(headOf(prefix, domain), isUsable),
        afterKey: UNDERSCORE,
        afterValue: UNDERSCORE,
        tail: () => "",
        isPlain: plainBytes(isUsable),
        longestKey: longest,
        hasShapes: false,
      },
    },
  );
}

/** The parts of windows that the Go service has, too. */
const goParts: readonly string[] = [
  ...unitNames.slice(1).map((name) => `${name.toLowerCase()}:`),
  "calendar:month:UTC:",
];

/** No limit of a list is plain. */
function isGoShape({ part, isPlain }: KeyShape): boolean {
  return isPlain && goParts.includes(part);
}

const EQUALS = 0x3d;
const BAR = 0x7c;
const UNDERSCORE = 0x5f;

function ownInPlace(prefix: string, longestKey: number): KeyInPlace {
  return {
    head: (domain) => usableHead(`${prefix}${encodeKeyPart(domain)}|`, () => true),
    afterKey: EQUALS,
    afterValue: BAR,
    tail: windowText,
    isPlain: plainBytes((text) => encodeKeyPart(text) === text),
    longestKey,
    hasShapes: true,
  };
}

function usableHead(head: string, isUsable: (text: string) => boolean): string | undefined {
  return /^\p{ASCII}*$/u.test(head) && isUsable(head) ? head : undefined;
}

/** Marks the ASCII characters with this property. */
function plainBytes(isPlain: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 0x80 && isPlain(String.fromCharCode(byte)) ? 1 : 0,
  );
}

function headOf(prefix: string, domain: string): string {
  return `${prefix}${domain}_`;
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
  let stem = headOf(prefix, domain);
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
