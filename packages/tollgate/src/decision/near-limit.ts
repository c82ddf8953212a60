/**
 * The count above which hits are near the limit: floor(limit x ratio). Computed in 32-bit floats, as in the Go service,
 * so that dashboards show the same numbers (0.8: 1 -> 0, 5 -> 4, 7 -> 5, 33 -> 26). Above 2^24 a 32-bit float may exceed
 * the limit (4294967295 becomes 4294967296), so the result is capped at the limit.
 */
export function nearLimit(limit: number, ratio: number): number {
  return Math.min(Math.floor(Math.fround(Math.fround(limit) * Math.fround(ratio))), limit);
}
