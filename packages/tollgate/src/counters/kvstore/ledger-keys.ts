/**
 * The keys of a counter's holds. They are in the counter's slot of a cluster, so that one script call changes both. In a
 * cluster a window's holds therefore have keys of their own; elsewhere all windows share one set of keys.
 */
import type { ReservedLimit } from "../reservations.ts";

/** The part before the suffix. A hash tag keeps it in the counter's slot. */
export function ledgerOf(
  { stem, algorithm, homeStart }: Pick<ReservedLimit, "stem" | "algorithm" | "homeStart">,
  isCluster: boolean,
): string {
  if (hasTag(stem)) return `${stem}:`;
  return algorithm.perWindow && isCluster ? `{${stem}${homeStart}}:` : `{${stem}}:`;
}

/** Whether the holds of an earlier window are in another slot than those of the current one. */
export function isElsewhere({ stem, algorithm, windowStart, homeStart }: ReservedLimit): boolean {
  return algorithm.perWindow && homeStart !== windowStart && !hasTag(stem);
}

/** Whether a key has a hash tag: see `slots.ts`. */
export function hasTag(key: string): boolean {
  const open = key.indexOf("{");
  return open >= 0 && key.indexOf("}", open + 1) > open + 1;
}
