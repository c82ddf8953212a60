import { setTimeout as sleep } from "node:timers/promises";
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
  const begun = performance.now();
  const looks = parts.map(({ counts }) => counts.map((count) => ({ ...count, hits: 0 })));
  const looked = await Promise.allSettled(
    parts.map(async (part, i) => part.count({ ...request, allOrNothing: false, counts: looks[i]! })),
  );
  for (const end of looked) if (end.status === "rejected") throw end.reason;
  if (exceeding(parts, looks)) return;
  // The caller's patience is what is left of it: it is measured from `now`.
  const now = request.now + (performance.now() - begun);
  const ends = await Promise.allSettled(
    parts.map(async (part) => part.count({ ...request, now, allOrNothing: true, counts: part.counts })),
  );
  const failed = ends.find((end) => end.status === "rejected");
  if (failed === undefined && !parts.some(isRefused)) return;
  const counted = parts.filter(
    (part, i) => ends[i]!.status === "fulfilled" && part.counts[0]!.outcome === Outcome.COUNTED,
  );
  const givenBack = Promise.all(counted.map((part) => giveBack(request, part)));
  if (failed !== undefined) throw failed.reason;
  if (request.deadline === 0) await givenBack;
  else await within(request.deadline - request.now - (performance.now() - begun), givenBack);
}

/** Waits for something that goes on afterwards all the same, and that never fails. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ends = new AbortController();
  const patience = sleep(Math.min(Math.max(0, milliseconds), 2 ** 31 - 1), undefined, {
    signal: ends.signal,
  });
  await Promise.race([work, patience.catch(() => {})]);
  ends.abort();
}

function isRefused({ counts }: Part): boolean {
  return counts.some(({ outcome }) => outcome !== Outcome.COUNTED && outcome !== Outcome.ALLOWED);
}

/** Judges every count at its own position by what the looks showed; fills in the results when one exceeds. */
function exceeding(parts: readonly Part[], looks: readonly (readonly Count[])[]): boolean {
  const positions = new Map<string, number>();
  let over = false;
  parts.forEach(({ counts }, i) => {
    counts.forEach((count, j) => {
      const look = looks[i]![j]!;
      if (look.outcome !== Outcome.COUNTED) {
        // A sick store's failure policy has answered: who is denied holds the others back, who is allowed does not.
        count.outcome = look.outcome;
        count.after = look.after;
        over ||= look.outcome === Outcome.DENIED;
        return;
      }
      const key = count.stem + count.windowStart;
      const before = positions.get(key) ?? look.after;
      const after = Math.max(0, before + count.hits);
      const exceeds = count.hits >= 0 && after > count.limit;
      positions.set(key, exceeds ? before : after);
      count.outcome = exceeds ? Outcome.EXCEEDS : Outcome.HELD;
      count.after = look.after;
      over ||= exceeds;
    });
  });
  return over;
}

/**
 * Undoes a part that was counted; its counts are held then, each with its counter as it was before. The giving back is
 * sent whatever the caller's deadline is, and never touches the counts, which are the caller's again by then.
 */
async function giveBack(request: CountRequest, part: Part): Promise<void> {
  const grown = part.counts.filter((count) => count.hits > 0);
  const back = grown.map((count) => ({ ...count, hits: -count.hits }));
  const before = new Map<string, number>();
  for (const count of part.counts) {
    const key = count.stem + count.windowStart;
    if (!before.has(key)) before.set(key, count.hits > 0 ? count.after - count.hits : count.after);
    count.outcome = Outcome.HELD;
    count.after = before.get(key)!;
  }
  try {
    await part.count({ ...request, deadline: 0, allOrNothing: false, counts: back });
  } catch {
    // The store failed in between: these hits stay. The caller has its answer all the same.
  }
}
