/**
 * The count above which hits are near the limit: floor(limit x ratio), computed in 32-bit floats so that it is the
 * same number that dashboards of the Go service are used to (0.8: 1 -> 0, 5 -> 4, 7 -> 5, 33 -> 26).
 */
export function nearLimit(limit: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(limit) * Math.fround(ratio)));
}
