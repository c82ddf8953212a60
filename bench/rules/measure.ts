/** Number of runs of each piece of work. */
export const ROUNDS = 25;

/**
 * Measures the nanoseconds of one call for each piece of work. Takes the best round, because load on a shared machine
 * only adds time. The pieces take turns, so that they run under the same conditions.
 * @param calls number of calls in one run of a piece
 */
export function nanoseconds(calls: number, works: readonly (() => void)[]): number[] {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, work] of works.entries()) {
      const start = process.hrtime.bigint();
      work();
      best[index] = Math.min(best[index]!, Number(process.hrtime.bigint() - start) / calls);
    }
  }
  return best;
}

/** Creates a string like a decoder: flat, new, not internalised, without a computed hash. */
export function fresh(text: string): string {
  return Buffer.from(text).toString("utf8");
}

/** Shuffles in the same "random" order in every run. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  const all = [...items];
  let state = 1;
  for (let index = all.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const other = state % (index + 1);
    // `other` is at most `index`.
    [all[index], all[other]] = [all[other]!, all[index]!];
  }
  return all;
}

export function row(name: string, value: number, unit: string, note = ""): void {
  console.log(
    `  ${name.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit.padEnd(4)} ${note}`,
  );
}
