const firstMs = 25;
const lastMs = 1000;

/**
 * How long to wait before the next attempt: doubles from 25 ms to 1 s with each failure in a row, and is jittered
 * down to half, so that a fleet does not come back in step.
 * @param failures in a row, at least 1
 */
export function backoffDelay(failures: number, random: () => number = Math.random): number {
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 10));
  return full * (0.5 + random() / 2);
}
