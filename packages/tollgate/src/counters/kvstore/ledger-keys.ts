/**
 * The keys of a counter's holds. They are in the counter's slot of a cluster, so that one script call changes both. In a
 * cluster a window's holds therefore have keys of their own; elsewhere all windows share one set of keys.
 */
import type { ReservedLimit } from "../reservations.ts";
import type { CommandWriter } from "./resp/writer.ts";

/** Writes the keys of the holds, their ends, and the commits. A hash tag keeps them in the counter's slot. */
export function writeLedgerKeys(
  writer: CommandWriter,
  { stem, algorithm }: Pick<ReservedLimit, "stem" | "algorithm">,
  homeStart: number,
  isCluster: boolean,
): void {
  const isTagged = hasTag(stem);
  const head = isTagged ? "" : "{";
  const start = !isTagged && algorithm.perWindow && isCluster ? String(homeStart) : "";
  const end = isTagged ? "" : "}";
  writer.joined(head, stem, `${start}${end}:holds`);
  writer.joined(head, stem, `${start}${end}:ends`);
  writer.joined(head, stem, `${start}${end}:commits`);
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
