import { printable } from "../text/printable.ts";
import { AffixTable } from "./affix-table.ts";
import { ByteWildcards } from "./byte-wildcards.ts";
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
  /** The same for values in place. Undefined if only texts can be compared. */
  readonly bytes: ByteWildcards<Target> | undefined;
  readonly #prefixes: AffixTable;
  /** One group for each prefix. */
  #groups: readonly PrefixGroup<Target>[] = [];

  /** @param entries most specific first */
  private constructor(entries: readonly WildcardEntry<Target>[], prefixes: AffixTable) {
    this.entries = entries;
    this.#prefixes = prefixes;
    this.#comparesEscapes = entries.some(({ pattern }) => /[\\x0-9A-F]/.test(pattern.text));
    if (entries.length <= FEW && !this.#comparesEscapes) this.bytes = ByteWildcards.of(entries);
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
