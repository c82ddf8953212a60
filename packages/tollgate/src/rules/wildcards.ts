import type { RequestPlaces } from "../protocol/scan-request.ts";
import { printable } from "../text/printable.ts";
import { AffixTable } from "./affix-table.ts";
import { better, GramIndex, type Ranked } from "./gram-index.ts";
import { bySpecificity, matches, type Pattern } from "./pattern.ts";

/** A pattern and its target. */
export interface WildcardEntry<Target> {
  readonly pattern: Pattern;
  readonly target: Target;
}

/** Up to this number of patterns, comparing one by one is faster than an index. */
const FEW = 4;

/**
 * The wildcards of one key at one level. Finds them by their prefixes, then their suffixes, then the text between. A
 * lookup among 1,000 takes 0.2 to 1 µs (`bench/rules`).
 */
export class WildcardIndex<Target> {
  /** Most specific first. */
  readonly entries: readonly WildcardEntry<Target>[];
  /** Whether a pattern has a character that occurs in `\xFF`, so that it may match the escape of a byte that is not UTF-8. */
  readonly #comparesEscapes: boolean;
  /** Few patterns without a text between two `*`, in the order of `entries`: compared without making a string. */
  readonly #affixes: readonly Affixes[] | undefined;
  readonly #prefixes: AffixTable;
  /** One group for each prefix. */
  #groups: readonly PrefixGroup<Target>[] = [];

  /** @param entries most specific first */
  private constructor(entries: readonly WildcardEntry<Target>[], prefixes: AffixTable) {
    this.entries = entries;
    this.#prefixes = prefixes;
    this.#comparesEscapes = entries.some(({ pattern }) => /[\\x0-9A-F]/.test(pattern.text));
    const isSimple = entries.every(({ pattern }) => pattern.middles.length === 0);
    if (entries.length <= FEW && isSimple && !this.#comparesEscapes)
      this.#affixes = this.entries.map(({ pattern }) => ({
        prefix: Buffer.from(pattern.prefix),
        suffix: Buffer.from(pattern.suffix),
      }));
  }

  /**
   * Makes an index. Yields often, so that the thread can decide calls meanwhile.
   * @param unsorted in the order of the configuration, which decides between equally specific ones
   */
  static *make<Target>(unsorted: readonly WildcardEntry<Target>[]): Generator<void, WildcardIndex<Target>> {
    const entries = unsorted.toSorted((a, b) => bySpecificity(a.pattern, b.pattern));
    yield;
    const ranked = entries.map((entry, rank) => ({ ...entry, rank }));
    const byPrefix = Map.groupBy(ranked, ({ pattern }) => pattern.prefix);
    yield;
    const index = new WildcardIndex(entries, AffixTable.ofPrefixes(byPrefix.keys()));
    yield;
    const groups: PrefixGroup<Target>[] = [];
    for (const prefix of index.#prefixes.texts) {
      groups.push(yield* PrefixGroup.make(byPrefix.get(prefix)!));
      yield;
    }
    index.#groups = groups;
    return index;
  }

  /** Whether `findInPlace` compares bytes, and so needs no text. */
  get comparesBytes(): boolean {
    return this.#affixes !== undefined;
  }

  /** The same as `find` for the value in `places.buffer[start..end)`. */
  findInPlace(places: RequestPlaces, start: number, end: number): Target | undefined {
    const affixes = this.#affixes;
    if (affixes === undefined) return this.find(places.text(start, end));
    const { buffer } = places;
    for (let index = 0; index < affixes.length; index++) {
      const { prefix, suffix } = affixes[index]!;
      // Each `*` matches the empty text, and whole characters are equal exactly if their bytes are.
      const fits = prefix.length + suffix.length <= end - start;
      if (fits && isAt(prefix, buffer, start) && isAt(suffix, buffer, end - suffix.length))
        return this.entries[index]!.target;
    }
    return undefined;
  }

  /** Returns the target of the most specific matching pattern. Bytes that are not UTF-8 are compared as `\xFF` escapes. */
  find(raw: string): Target | undefined {
    const value = this.#comparesEscapes ? printable(raw) : raw;
    const { entries } = this;
    if (entries.length <= FEW) {
      for (let index = 0; index < entries.length; index++) {
        const { pattern, target } = entries[index]!;
        if (matches(pattern, value)) return target;
      }
      return undefined;
    }
    const prefixes = this.#prefixes;
    // A pattern with a longer prefix is always more specific than one with a shorter prefix.
    for (let index = prefixes.longest(value); index >= 0; index = prefixes.shorter(index)) {
      const found = this.#groups[index]!.find(value);
      if (found !== undefined) return found.target;
    }
    return undefined;
  }
}

/** The texts before the first and after the last `*`, as UTF-8. */
interface Affixes {
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

function isAt(text: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < text.length; at++) if (text[at] !== bytes[start + at]) return false;
  return true;
}

/** Patterns with the same prefix. */
class PrefixGroup<Target> {
  readonly #suffixes: AffixTable;
  /** One bucket for each suffix. */
  readonly #buckets: readonly Bucket<Target>[];

  private constructor(suffixes: AffixTable, buckets: readonly Bucket<Target>[]) {
    this.#suffixes = suffixes;
    this.#buckets = buckets;
  }

  static *make<Target>(patterns: readonly Ranked<Target>[]): Generator<void, PrefixGroup<Target>> {
    const bySuffix = Map.groupBy(patterns, ({ pattern }) => pattern.suffix);
    const suffixes = AffixTable.ofSuffixes(bySuffix.keys());
    if (patterns.length > FEW) yield;
    const buckets: Bucket<Target>[] = [];
    for (const suffix of suffixes.texts) {
      const bucket = bySuffix.get(suffix)!;
      buckets.push(bucket.length <= FEW ? bucket : yield* GramIndex.make(bucket));
    }
    return new PrefixGroup(suffixes, buckets);
  }

  find(value: string): Ranked<Target> | undefined {
    const suffixes = this.#suffixes;
    let best: Ranked<Target> | undefined;
    for (let index = suffixes.longest(value); index >= 0; index = suffixes.shorter(index)) {
      const bucket = this.#buckets[index]!;
      best = bucket instanceof GramIndex ? bucket.find(value, best) : better(bucket, value, best);
    }
    return best;
  }
}

/** Patterns with the same prefix and the same suffix, most specific first. */
type Bucket<Target> = readonly Ranked<Target>[] | GramIndex<Target>;
