/** From which end texts are compared. */
interface End {
  compare(a: string, b: string): number;
  /** How many characters two texts share from this end. */
  shared(a: string, b: string): number;
}

const front: End = {
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
  shared(a, b) {
    const length = Math.min(a.length, b.length);
    let shared = 0;
    while (shared < length && a.charCodeAt(shared) === b.charCodeAt(shared)) shared++;
    return shared;
  },
};

const back: End = {
  compare(a, b) {
    const shared = back.shared(a, b) + 1;
    if (shared > a.length || shared > b.length) return a.length - b.length;
    return a.charCodeAt(a.length - shared) - b.charCodeAt(b.length - shared);
  },
  shared(a, b) {
    const length = Math.min(a.length, b.length);
    let shared = 0;
    while (shared < length && a.charCodeAt(a.length - 1 - shared) === b.charCodeAt(b.length - 1 - shared))
      shared++;
    return shared;
  },
};

/**
 * Finds the texts of a set that a value begins with (or ends with) by binary search, and makes no string for it.
 *
 * In sorted order every text that is a prefix of the value stands at or before the value's own place, and of two such
 * texts the shorter is a prefix of the longer. So all of them are the text at that place or its own prefixes in the
 * set: a chain, which is linked, with longer jumps beside the single steps so that a long one is not walked.
 */
export class AffixTable {
  /** Sorted, each once. */
  readonly texts: readonly string[];
  /** Per text: the index of the longest other one that it begins (ends) with, or -1. */
  readonly #shorter: Int32Array;
  /** Per text: some index further down the same chain, or -1; the way down takes O(log n) of either. */
  readonly #jump: Int32Array;
  readonly #end: End;

  private constructor(texts: Iterable<string>, end: End) {
    this.#end = end;
    this.texts = [...new Set(texts)].sort(end.compare);
    const size = this.texts.length;
    this.#shorter = new Int32Array(size);
    this.#jump = new Int32Array(size);
    const depth = new Int32Array(size);
    const depthOf = (index: number) => (index < 0 ? -1 : depth[index]);
    const jumpOf = (index: number) => (index < 0 ? -1 : this.#jump[index]);
    for (const [index, text] of this.texts.entries()) {
      const next = this.#longestFrom(index - 1, text);
      this.#shorter[index] = next;
      depth[index] = depthOf(next) + 1;
      // Skew-binary links: two jumps of equal length are joined into one.
      const once = jumpOf(next);
      const twice = jumpOf(once);
      const equal = depthOf(next) - depthOf(once) === depthOf(once) - depthOf(twice);
      this.#jump[index] = next >= 0 && equal ? twice : next;
    }
  }

  static ofPrefixes(texts: Iterable<string>): AffixTable {
    return new AffixTable(texts, front);
  }

  static ofSuffixes(texts: Iterable<string>): AffixTable {
    return new AffixTable(texts, back);
  }

  /** The index of the longest text that the value begins (ends) with, or -1. */
  longest(value: string): number {
    const { compare } = this.#end;
    let low = 0;
    let high = this.texts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.texts[middle], value) <= 0) low = middle + 1;
      else high = middle;
    }
    return this.#longestFrom(low - 1, value);
  }

  /** The next shorter one after {@link longest}, or -1. */
  shorter(index: number): number {
    return this.#shorter[index];
  }

  /** Down the chain to the first text that is no longer than what the value shares with its start. */
  #longestFrom(start: number, value: string): number {
    if (start < 0) return -1;
    const shared = this.#end.shared(this.texts[start], value);
    let index = start;
    while (index >= 0 && this.texts[index].length > shared) {
      const far = this.#jump[index];
      index = far >= 0 && this.texts[far].length > shared ? far : this.#shorter[index];
    }
    return index;
  }
}
