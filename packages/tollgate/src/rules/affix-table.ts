/** Fields of a node: start and end of its label in `#labels`, its text's index or -1, start and end of its children. */
const LABEL = 0;
const LABEL_END = 1;
const TEXT = 2;
const CHILD = 3;
const CHILD_END = 4;
const FIELDS = 5;

/** Shared by tables with at most one text, of which there may be thousands. They compare the text directly. */
const noNumbers = new Int32Array(0);
const noCharacters = new Uint16Array(0);

/** The sorted texts `[low, high)`, which share their first `depth` characters and become one node. */
interface Range {
  readonly low: number;
  readonly high: number;
  readonly depth: number;
  /** The longest text that is a prefix of all of them, or -1. */
  readonly above: number;
}

/**
 * Finds the texts of a set that a value begins with (or ends with), without creating strings.
 *
 * A radix tree in arrays of numbers: 1,000 texts take about 40 KiB, which fit into the nearest caches. A binary search
 * among the texts touched a string, often with a cache miss, in each of its ten steps, and compared the common prefix
 * each time: 1.1 instead of 0.64 µs for 1,000 suffixes, on a machine with shared caches.
 */
export class AffixTable {
  /** Unique texts, sorted from the end at which they are compared. */
  readonly texts: readonly string[];
  readonly #isBackward: boolean;
  readonly #nodes: Int32Array;
  /** For each node, its label's first character. A node's children are adjacent, in the order of these characters. */
  readonly #firsts: Uint16Array;
  readonly #labels: Uint16Array;
  /** For each text, the index of the longest other text that it begins (ends) with, or -1. */
  readonly #shorter: Int32Array;

  private constructor(texts: Iterable<string>, isBackward: boolean) {
    this.#isBackward = isBackward;
    const oriented = [...new Set(texts)].map((text) => (isBackward ? reversed(text) : text)).sort();
    this.texts = isBackward ? oriented.map(reversed) : oriented;
    if (oriented.length < 2) {
      this.#nodes = noNumbers;
      this.#firsts = noCharacters;
      this.#labels = noCharacters;
      this.#shorter = noNumbers;
      return;
    }
    this.#shorter = new Int32Array(oriented.length);
    const nodes: number[] = [];
    const firsts: number[] = [];
    const labels: number[] = [];
    const ranges: Range[] = [{ low: 0, high: oriented.length, depth: 0, above: -1 }];
    // The loop appends to `ranges`. No range is empty, so its texts exist.
    for (const { low, high, depth, above } of ranges) {
      const text = oriented[low]!;
      const end = sharedEnd(text, oriented[high - 1]!, depth);
      const own = text.length === end ? low : -1;
      if (own >= 0) this.#shorter[own] = above;
      firsts.push(text.charCodeAt(depth));
      nodes.push(labels.length, labels.length + end - depth, own, ranges.length);
      for (let at = depth; at < end; at++) labels.push(text.charCodeAt(at));
      for (let from = own >= 0 ? low + 1 : low; from < high; ) {
        const first = oriented[from]!.charCodeAt(end);
        let to = from + 1;
        while (to < high && oriented[to]!.charCodeAt(end) === first) to++;
        ranges.push({ low: from, high: to, depth: end, above: own >= 0 ? own : above });
        from = to;
      }
      nodes.push(ranges.length);
    }
    this.#nodes = Int32Array.from(nodes);
    this.#firsts = Uint16Array.from(firsts);
    this.#labels = Uint16Array.from(labels);
  }

  static ofPrefixes(texts: Iterable<string>): AffixTable {
    return new AffixTable(texts, false);
  }

  static ofSuffixes(texts: Iterable<string>): AffixTable {
    return new AffixTable(texts, true);
  }

  /** Returns the index of the longest text that the value begins (ends) with, or -1. */
  longest(value: string): number {
    const nodes = this.#nodes;
    if (nodes.length === 0) return this.#sole(value);
    const labels = this.#labels;
    const step = this.#isBackward ? -1 : 1;
    const end = this.#isBackward ? -1 : value.length;
    let at = this.#isBackward ? value.length - 1 : 0;
    let found = -1;
    let node = 0;
    while (node >= 0) {
      const labelEnd = nodes[node + LABEL_END]!;
      for (let label = nodes[node + LABEL]!; label < labelEnd; label++, at += step)
        if (at === end || labels[label] !== value.charCodeAt(at)) return found;
      if (nodes[node + TEXT]! >= 0) found = nodes[node + TEXT]!;
      node = at === end ? -1 : this.#child(node, value.charCodeAt(at));
    }
    return found;
  }

  /** Returns the index of the next shorter text after {@link longest}, or -1. */
  shorter(index: number): number {
    return this.#nodes.length === 0 ? -1 : this.#shorter[index]!;
  }

  #sole(value: string): number {
    const [text] = this.texts;
    if (text === undefined) return -1;
    return (this.#isBackward ? value.endsWith(text) : value.startsWith(text)) ? 0 : -1;
  }

  /** Returns the offset of the child whose label begins with a character, or -1. */
  #child(node: number, first: number): number {
    const firsts = this.#firsts;
    const end = this.#nodes[node + CHILD_END]!;
    let low = this.#nodes[node + CHILD]!;
    let high = end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (firsts[middle]! < first) low = middle + 1;
      else high = middle;
    }
    return low < end && firsts[low] === first ? low * FIELDS : -1;
  }
}

/** Reverses by UTF-16 code units, the units of all pattern comparisons. */
function reversed(text: string): string {
  let result = "";
  for (let at = text.length - 1; at >= 0; at--) result += text[at];
  return result;
}

/** Returns the length of the common prefix of two texts whose first `from` characters are equal. */
function sharedEnd(a: string, b: string, from: number): number {
  const length = Math.min(a.length, b.length);
  let end = from;
  while (end < length && a.charCodeAt(end) === b.charCodeAt(end)) end++;
  return end;
}
