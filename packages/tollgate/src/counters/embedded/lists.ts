/**
 * The lists that a shard keeps its segments in. A state's length (for a fixed window, the window) chooses its list.
 *
 * Two lists form a *class*: up to a minute, up to an hour, up to a day, longer. Each class has a guaranteed share of
 * the memory, which other classes cannot take. A segment mixes states with different ends and becomes free when the
 * last one has ended. Two lists for each class keep the waste small: a counter of a second never shares a segment with
 * a counter of a minute.
 */

/** The longest state of each list, in seconds. The last list takes all longer ones. */
const LONGEST = [8, 60, 480, 3600, 17_280, 86_400, 691_200] as const;

export const LIST_COUNT = 8;
export const CLASS_COUNT = 4;

/** The guaranteed share of each class. All classes together have a quarter of the memory. */
const GUARANTEED = 1 / 4 / CLASS_COUNT;

/** @param length length of the state, in seconds */
export function listOf(length: number): number {
  let list = 0;
  while (list < LONGEST.length && length > LONGEST[list]!) list++;
  return list;
}

export function classOf(list: number): number {
  return list >> 1;
}

/** Segments that each class may always keep. */
export function guaranteedSegments(segments: number): number {
  return Math.floor(segments * GUARANTEED);
}
