import type { Count, CountRequest } from "../store.ts";
import { Outcome } from "../store.ts";

/** Counts that one atomic step can count, and who counts them. */
export interface Part {
  readonly counts: readonly Count[];
  count(request: CountRequest): void | Promise<void>;
}

/**
 * All-or-nothing over several slots, servers or instances, where no single step reaches all counters: look first;
 * where everything fits, count each part all-or-nothing; where one part refuses after all (somebody else was
 * quicker), give back what the others counted. The bound: between the two steps and the giving back, calls of
 * other callers may see, and be refused by, the hits of calls that are held in the end; no hit stays behind unless
 * the store fails in between.
 * @throws {StoreError} of the first part that failed, after all parts have ended
 */
export async function countAcross(request: CountRequest, parts: readonly Part[]): Promise<void> {
  const looks = parts.map(({ counts }) => counts.map((count) => ({ ...count, hits: 0 })));
  await all(parts.map((part, i) => part.count({ ...request, allOrNothing: false, counts: looks[i]! })));
  if (exceeding(parts, looks)) return;
  const ends = await Promise.allSettled(
    parts.map(async (part) => part.count({ ...request, allOrNothing: true, counts: part.counts })),
  );
  const failed = ends.find((end) => end.status === "rejected");
  const counted = parts.filter(
    (part, i) => ends[i]!.status === "fulfilled" && part.counts[0]!.outcome === Outcome.COUNTED,
  );
  if (counted.length === parts.length) return;
  await Promise.allSettled(counted.map((part) => giveBack(request, part)));
  if (failed !== undefined) throw failed.reason;
}

async function all(results: readonly (void | Promise<void>)[]): Promise<void> {
  const ends = await Promise.allSettled(results);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Judges every count at its own position by what the looks showed; fills in the results when one exceeds. */
function exceeding(parts: readonly Part[], looks: readonly (readonly Count[])[]): boolean {
  const positions = new Map<string, number>();
  let over = false;
  parts.forEach(({ counts }, i) => {
    counts.forEach((count, j) => {
      const key = count.stem + count.windowStart;
      const before = positions.get(key) ?? looks[i]![j]!.after;
      const after = Math.max(0, before + count.hits);
      const exceeds = count.hits >= 0 && after > count.limit;
      positions.set(key, exceeds ? before : after);
      count.outcome = exceeds ? Outcome.EXCEEDS : Outcome.HELD;
      count.after = looks[i]![j]!.after;
      over ||= exceeds;
    });
  });
  return over;
}

/** Undoes a part that was counted; its counts are held then. */
async function giveBack(request: CountRequest, part: Part): Promise<void> {
  const grown = part.counts.filter((count) => count.hits > 0);
  const back = grown.map((count) => ({ ...count, hits: -count.hits }));
  for (const count of part.counts) count.outcome = Outcome.HELD;
  await part.count({ ...request, deadline: 0, allOrNothing: false, counts: back });
  grown.forEach((count, i) => {
    count.after = back[i]!.after;
  });
}
