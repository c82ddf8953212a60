import { fits, type Pattern } from "./pattern.ts";

/** A pattern with its place among all of its key: 0 is the most specific. */
export interface Ranked<Target> {
  readonly rank: number;
  readonly pattern: Pattern;
  readonly target: Target;
}

const GRAM = 3;
/** Bits of the filter: at 1,000 patterns about one position in sixteen asks the map in vain. */
const FILTER_BITS = 1 << 14;

/**
 * Patterns that differ only between their `*`. Each is filed under the three-letter run of its literals that is
 * rarest among all, so that a value is compared with those few that share a run with it.
 */
export class GramIndex<Target> {
  readonly #byGram = new Map<number, Ranked<Target>[]>();
  readonly #filter = new Uint8Array(FILTER_BITS >> 3);
  /** Patterns without a run of three letters: these are tried one by one. */
  readonly #others: Ranked<Target>[] = [];

  /** @param patterns most specific first */
  constructor(patterns: readonly Ranked<Target>[]) {
    const uses = new Map<number, number>();
    const gramsOf = patterns.map(({ pattern }) => new Set(pattern.middles.flatMap(grams)));
    for (const own of gramsOf) for (const gram of own) uses.set(gram, (uses.get(gram) ?? 0) + 1);
    for (const [index, ranked] of patterns.entries()) {
      const [rarest] = [...gramsOf[index]].sort((a, b) => uses.get(a)! - uses.get(b)!);
      if (rarest === undefined) this.#others.push(ranked);
      else this.#file(rarest, ranked);
    }
  }

  /** The most specific pattern that holds for a value with the right prefix and suffix, if it beats `best`. */
  find(value: string, best: Ranked<Target> | undefined): Ranked<Target> | undefined {
    let found = better(this.#others, value, best);
    if (value.length < GRAM) return found;
    let previous = value.charCodeAt(0);
    let current = value.charCodeAt(1);
    for (let index = 2; index < value.length; index++) {
      const next = value.charCodeAt(index);
      const gram = gramOf(previous, current, next);
      const bit = gram & (FILTER_BITS - 1);
      if ((this.#filter[bit >> 3] & (1 << (bit & 7))) !== 0) {
        const patterns = this.#byGram.get(gram);
        if (patterns !== undefined) found = better(patterns, value, found);
      }
      previous = current;
      current = next;
    }
    return found;
  }

  #file(gram: number, ranked: Ranked<Target>): void {
    const filed = this.#byGram.get(gram);
    if (filed === undefined) this.#byGram.set(gram, [ranked]);
    else filed.push(ranked);
    const bit = gram & (FILTER_BITS - 1);
    this.#filter[bit >> 3] |= 1 << (bit & 7);
  }
}

/** The first of a list, most specific first, that holds for the value and beats `best`; else `best`. */
export function better<Target>(
  patterns: readonly Ranked<Target>[],
  value: string,
  best: Ranked<Target> | undefined,
): Ranked<Target> | undefined {
  for (let index = 0; index < patterns.length; index++) {
    const ranked = patterns[index];
    if (best !== undefined && ranked.rank > best.rank) return best;
    if (fits(ranked.pattern, value)) return ranked;
  }
  return best;
}

function grams(text: string): number[] {
  const found: number[] = [];
  for (let index = 0; index + GRAM <= text.length; index++) {
    found.push(gramOf(text.charCodeAt(index), text.charCodeAt(index + 1), text.charCodeAt(index + 2)));
  }
  return found;
}

/** Runs that fall together only cost a comparison. */
function gramOf(a: number, b: number, c: number): number {
  return (Math.imul(Math.imul(a, 31) + b, 31) + c) & 0x3fffffff;
}
