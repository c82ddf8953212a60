/** Long walks over many statistics that let calls through in between: no flush and no page stalls a decision. */

/** How many items are handled before other work gets its turn; well under a millisecond. */
export const ITEMS_PER_TURN = 512;

/** Resolves when the event loop has gone round once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Sorts as `items.sort()` would, a turn at a time: short runs first, then merges. */
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
  // Runs that are in order already, as most are that were counted in order.
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
