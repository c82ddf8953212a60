/** So often each piece of work is run. */
export const ROUNDS = 25;

/**
 * Nanoseconds of one call for each piece of work: the best of its rounds, because a shared machine only ever adds to
 * it. The pieces take turns, so that what they are compared with had the same chances.
 * @param calls how many calls one run of a piece makes
 */
export function nanoseconds(calls: number, works: readonly (() => void)[]): number[] {
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, work] of works.entries()) {
      const start = process.hrtime.bigint();
      work();
      best[index] = Math.min(best[index], Number(process.hrtime.bigint() - start) / calls);
    }
  }
  return best;
}

/** Strings as a decoder makes them: flat, new, not internalised, their hash not computed yet. */
export function fresh(text: string): string {
  return Buffer.from(text).toString("utf8");
}

/** The same "random" order in every run. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  const all = [...items];
  let state = 1;
  for (let index = all.length - 1; index > 0; index--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const other = state % (index + 1);
    [all[index], all[other]] = [all[other], all[index]];
  }
  return all;
}

export function row(name: string, value: number, unit: string, note = ""): void {
  console.log(
    `  ${name.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit.padEnd(4)} ${note}`,
  );
}
