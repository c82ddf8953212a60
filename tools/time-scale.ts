/**
 * Measures how much slower this process runs than on an idle reference machine: at least 1. Tests multiply time limits by
 * that factor. For example, a limit of 300 ms becomes 3 s if nine busy loops share the core.
 *
 * The measurement compares the wall time of a fixed amount of work to that of the reference machine. It covers both slow
 * and shared cores. It runs once per process, at the first use.
 */

/** Wall time of {@link work} on an idle machine with 2 cores, rounded up. */
const REFERENCE_MS = 70;
/** Covers a load that grows after the measurement. */
const MARGIN = 2;

let measured: number | undefined;

export function timeScale(): number {
  measured ??= Math.max(1, MARGIN * (wallTimeMs() / REFERENCE_MS) - (MARGIN - 1));
  return measured;
}

/** @returns `ms` on the reference machine, more on a slower one; whole milliseconds */
export function scaled(ms: number): number {
  return Math.ceil(ms * timeScale());
}

/**
 * Whether a time limit has passed: `scaled(ms)` since `begun`. Measures only after `ms`, so a process whose waits are short
 * does not measure.
 * @param begun what `performance.now()` returned
 */
export function isTimeUp(begun: number, ms: number): boolean {
  const passed = performance.now() - begun;
  return passed > ms && passed > scaled(ms);
}

function wallTimeMs(): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/** Property and map operations, which most of the code under test consists of. */
function work(): void {
  const map = new Map<string, number>();
  for (let i = 0; i < 800_000; i++) {
    const key = `key-${i % 1000}`;
    map.set(key, (map.get(key) ?? 0) + i);
  }
}
