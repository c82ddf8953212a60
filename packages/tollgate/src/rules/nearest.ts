/** Maximum characters of a name. Longer names are rarely typing errors, and comparing them is slow. */
const MAX_LENGTH = 64;

/** Returns the candidate that is most similar to a misspelt name, or undefined if none is similar. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = simplified(name);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const target = simplified(candidate);
    const allowed = tolerated(Math.max(plain.length, target.length));
    if (Math.abs(plain.length - target.length) > allowed) continue;
    const distance = editDistance(plain, target);
    if (distance <= allowed && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Maximum edit distance: 0 up to two characters, 1 in a short name, more in a long one. */
function tolerated(length: number): number {
  return length <= 2 ? 0 : Math.max(1, Math.floor(length / 3));
}

/** Removes differences of spelling: `rateLimit`, `rate-limit` and `Rate_Limit` become equal. */
function simplified(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours count 1 each. */
function editDistance(a: string, b: string): number {
  // Each row has `b.length + 1` numbers, so all columns below are in range.
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      let distance = Math.min(replaced, last[column]! + 1, current[column - 1]! + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
