/**
 * The count above which hits are near the limit: floor(limit x ratio), computed in 32-bit floats so that it is the
 * same number that dashboards of the Go service are used to (0.8: 1 -> 0, 5 -> 4, 7 -> 5, 33 -> 26). A 32-bit float
 * above 2^24 may be larger than the limit that it stands for (4294967295 becomes 4294967296): it is cut at the limit.
 */
export function nearLimit(limit: number, ratio: number): number {
  return Math.min(Math.floor(Math.fround(Math.fround(limit) * Math.fround(ratio))), limit);
}
