/** Longer names get no suggestion. This bounds the work. */
const MAX_NAME = 64;

/** The known name that a caller probably meant. Undefined if none is similar. */
export function nearestName(typed: string, known: Iterable<string>): string | undefined {
  if (typed.length > MAX_NAME) return undefined;
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const limit = Math.min(name.length < 5 ? 1 : 2, name.length - 1);
    const distance = editDistance(typed, name, limit);
    if (distance <= limit && distance < least) {
      best = name;
      least = distance;
    }
  }
  return best;
}

/** Faults of one request that get a suggestion: each compares a name with all known ones. */
const SUGGESTIONS = 3;

/** `; did you mean "author"?`, or nothing. `faults` is the number of faults that were found before. */
export function didYouMean(typed: string, known: Iterable<string>, faults: number): string {
  const near = faults < SUGGESTIONS ? nearestName(typed, known) : undefined;
  return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Counts insertions, deletions, substitutions and swaps of neighbours. Returns any number above `limit` if there are
 * more.
 */
export function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    // A swap refers to the row before the last, so one row beyond the limit does not end the search.
    if (Math.min(...next) > limit && Math.min(...row) > limit) return limit + 1;
    before = row;
    row = next;
  }
  return row[other.length]!;
}
