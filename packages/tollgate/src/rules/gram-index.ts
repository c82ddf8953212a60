import { fits, type Pattern } from "./pattern.ts";

/** A pattern with its rank among all patterns of its key: 0 is the most specific. */
export interface Ranked<Target> {
  readonly rank: number;
  readonly pattern: Pattern;
  readonly target: Target;
}

const GRAM = 3;
/** Patterns between two turns while an index is made: some 0.1 ms. */
const TURN = 64;
/** Bits of the filter. With 1,000 patterns about one position in sixteen is looked up in the map needlessly. */
const FILTER_BITS = 1 << 14;

/** A pattern that is filed under one of its runs. */
interface Filed<Target> {
  readonly ranked: Ranked<Target>;
  /** The only text between two `*`; undefined if there are several. `offset` is the run's offset in it. */
  readonly only: string | undefined;
  readonly offset: number;
  /** Number of the last search that compared this pattern. */
  search: number;
}

/**
 * Index of patterns that differ only between their `*`. Each pattern is filed under the rarest three-letter run of its
 * literals, so that a value is compared only with the few patterns that share a run with it.
 *
 * A request chooses how often a run occurs in a value. The index therefore compares a pattern with one text only at the
 * run's place, and a pattern with several texts once in a search: 60 KB of `admadmadm...` took a second for one `*admin*`.
 */
export class GramIndex<Target> {
  readonly #byGram = new Map<number, Filed<Target>[]>();
  #search = 0;
  readonly #filter = new Uint8Array(FILTER_BITS >> 3);
  /** Patterns without a run of three letters. They are tried one by one. */
  readonly #others: Ranked<Target>[] = [];

  /** Makes an index. Yields often. @param patterns most specific first */
  static *make<Target>(patterns: readonly Ranked<Target>[]): Generator<void, GramIndex<Target>> {
    const index = new GramIndex<Target>();
    const uses = new Map<number, number>();
    const all: { readonly ranked: Ranked<Target>; readonly own: ReadonlySet<number> }[] = [];
    for (const ranked of patterns) {
      const own = new Set(ranked.pattern.middles.flatMap(grams));
      for (const gram of own) uses.set(gram, (uses.get(gram) ?? 0) + 1);
      if (all.push({ ranked, own }) % TURN === 0) yield;
    }
    for (const [number, { ranked, own }] of all.entries()) {
      const [rarest] = [...own].sort((a, b) => (uses.get(a) ?? 0) - (uses.get(b) ?? 0));
      if (rarest === undefined) index.#others.push(ranked);
      else index.#file(rarest, ranked);
      if (number % TURN === 0) yield;
    }
    return index;
  }

  /** Returns the most specific pattern that matches a value with the right prefix and suffix, if it beats `best`. */
  find(value: string, best: Ranked<Target> | undefined): Ranked<Target> | undefined {
    let found = better(this.#others, value, best);
    if (value.length < GRAM) return found;
    this.#search++;
    let previous = value.charCodeAt(0);
    let current = value.charCodeAt(1);
    for (let index = 2; index < value.length; index++) {
      const next = value.charCodeAt(index);
      const gram = gramOf(previous, current, next);
      const bit = gram & (FILTER_BITS - 1);
      if ((this.#filter[bit >> 3]! & (1 << (bit & 7))) !== 0) {
        const patterns = this.#byGram.get(gram);
        if (patterns !== undefined) found = this.#compare(patterns, value, index - 2, found);
      }
      previous = current;
      current = next;
    }
    return found;
  }

  /** Returns the first pattern, most specific first, that matches the value with its run at `place` and beats `best`; else `best`. */
  #compare(
    patterns: readonly Filed<Target>[],
    value: string,
    place: number,
    best: Ranked<Target> | undefined,
  ): Ranked<Target> | undefined {
    for (const filed of patterns) {
      const { ranked, only } = filed;
      if (best !== undefined && ranked.rank > best.rank) return best;
      if (only !== undefined) {
        if (holdsAt(ranked.pattern, only, value, place - filed.offset)) return ranked;
      } else if (filed.search !== this.#search) {
        filed.search = this.#search;
        if (fits(ranked.pattern, value)) return ranked;
      }
    }
    return best;
  }

  #file(gram: number, ranked: Ranked<Target>): void {
    const { middles } = ranked.pattern;
    const only = middles.length === 1 ? middles[0] : undefined;
    const entry = { ranked, only, offset: only === undefined ? 0 : grams(only).indexOf(gram), search: 0 };
    const filed = this.#byGram.get(gram);
    if (filed === undefined) this.#byGram.set(gram, [entry]);
    else filed.push(entry);
    const bit = gram & (FILTER_BITS - 1);
    this.#filter[bit >> 3]! |= 1 << (bit & 7);
  }
}

/** Returns the first pattern of a list, most specific first, that matches the value and beats `best`; else `best`. */
export function better<Target>(
  patterns: readonly Ranked<Target>[],
  value: string,
  best: Ranked<Target> | undefined,
): Ranked<Target> | undefined {
  for (let index = 0; index < patterns.length; index++) {
    const ranked = patterns[index]!;
    if (best !== undefined && ranked.rank > best.rank) return best;
    if (fits(ranked.pattern, value)) return ranked;
  }
  return best;
}

/** Whether a value has the only text between two `*` at `start`, between the pattern's prefix and suffix. */
function holdsAt(pattern: Pattern, only: string, value: string, start: number): boolean {
  return (
    start >= pattern.prefix.length &&
    start + only.length <= value.length - pattern.suffix.length &&
    value.startsWith(only, start)
  );
}

function grams(text: string): number[] {
  const found: number[] = [];
  for (let index = 0; index + GRAM <= text.length; index++) {
    found.push(gramOf(text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2)));
  }
  return found;
}

/** Hashes three characters. A collision only costs one more comparison. */
function gramOf(a: number, b: number, c: number): number {
  return (Math.imul(Math.imul(a, 31) + b, 31) + c) & 0x3fffffff;
}
