/**
 * The keys of a counter's holds. They are in the counter's slot of a cluster, so that one script call changes both. In a
 * cluster a window's holds therefore have keys of their own; elsewhere all windows share one set of keys.
 */
import type { ReservedLimit } from "../reservations.ts";
import type { CommandWriter } from "./resp/writer.ts";
import type { Stem } from "./stems.ts";

/** Writes the keys of the holds, their ends, and the commits. A hash tag keeps them in the counter's slot. */
export function writeLedgerKeys(
  writer: CommandWriter,
  limit: Pick<ReservedLimit, "stem" | "place" | "algorithm">,
  homeStart: number,
  isCluster: boolean,
): void {
  const { stem, place } = limit;
  if (hasTag(limit)) {
    writer.joined("", stem, ":holds", place);
    writer.joined("", stem, ":ends", place);
    writer.joined("", stem, ":commits", place);
    return;
  }
  const start = limit.algorithm.perWindow && isCluster ? String(homeStart) : "";
  writer.joined("{", stem, `${start}}:holds`, place);
  writer.joined("{", stem, `${start}}:ends`, place);
  writer.joined("{", stem, `${start}}:commits`, place);
}

/** Whether the holds of an earlier window are in another slot than those of the current one. */
export function isElsewhere(limit: ReservedLimit): boolean {
  const { algorithm, windowStart, homeStart } = limit;
  return algorithm.perWindow && homeStart !== windowStart && !hasTag(limit);
}

/** Whether a key has a hash tag: see `slots.ts`. */
export function hasTag({ stem, place }: Stem): boolean {
  if (place === undefined) {
    const open = stem.indexOf("{");
    return open >= 0 && stem.indexOf("}", open + 1) > open + 1;
  }
  const { bytes, start, end } = place;
  let at = start;
  while (at < end && bytes[at] !== OPEN) at++;
  const first = ++at;
  while (at < end && bytes[at] !== CLOSE) at++;
  return at < end && at > first;
}

const OPEN = 123;
const CLOSE = 125;
