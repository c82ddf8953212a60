/** Helpers for long loops over statistics. They yield to the event loop, so that no flush and no page stalls a decision. */

/** Items to process before yielding to other work; they take well under a millisecond. */
export const ITEMS_PER_TURN = 512;

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Sorts like `items.sort()`, with a merge sort that yields between its steps. */
export async function sortInTurns<T>(items: T[], compare: (a: T, b: T) => number): Promise<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += ITEMS_PER_TURN) {
    runs.push(items.slice(start, start + ITEMS_PER_TURN).sort(compare));
    await nextTurn();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(runs[i + 1] === undefined ? runs[i]! : await merge(runs[i]!, runs[i + 1]!, compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: T[], right: T[], compare: (a: T, b: T) => number): Promise<T[]> {
  // Fast path: the runs are already in order, as is common.
  if (compare(left.at(-1)!, right[0]!) <= 0) return left.concat(right);
  const out: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const takeLeft = r >= right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0);
    out.push(takeLeft ? left[l++]! : right[r++]!);
    if (out.length % (4 * ITEMS_PER_TURN) === 0) await nextTurn();
  }
  return out;
}
