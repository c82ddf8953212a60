import { setTimeout as sleep } from "node:timers/promises";
import { countTogether, exceedsLimit, isRefused } from "../hold-back.ts";
import { type Count, type CountRequest, HoldBack, Outcome, Refuses } from "../store.ts";

/** Counts that one atomic step can count, and the way to count them. */
export interface Part {
  readonly counts: readonly Count[];
  count(request: CountRequest): void | Promise<void>;
}

export type RefundListener = (counts: readonly Count[]) => void;

/**
 * Counts that may hold each other back over several slots, servers or instances, where no single step reaches all
 * counters. First it looks at all of them. Where the looks refuse the request, only the parts with a counter that
 * exceeds, or with a refund, count, and hold the rest of their counts back. Otherwise every part counts. Where a part refuses all the same
 * (another caller was quicker), the others take back what they counted.
 *
 * The bound: between the steps other callers may see, and be refused by, hits of calls that are held in the end. A
 * call may pass uncounted where a refund brought the exceeding counter below its limit between the two steps. No hit
 * stays behind unless the store fails in between.
 * @param onRefund called when hits were taken back, also where the store may have failed to
 * @throws {StoreError} of the first part that failed, after all parts have ended
 */
export async function countAcross(
  request: CountRequest,
  parts: readonly Part[],
  onRefund: RefundListener = () => {},
): Promise<void> {
  const begun = performance.now();
  /** The time on the caller's clock: what is left of its patience is measured from it. */
  const clock = () => request.now + (performance.now() - begun);
  if (request.holdBack === HoldBack.ALWAYS) {
    const ends = await countParts(request, parts);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return;
  }
  const looks = parts.map(({ counts }) => counts.map((count) => ({ ...count, hits: 0 })));
  const looked = await countParts(
    { ...request, holdBack: HoldBack.NEVER },
    parts.map((part, i) => ({ ...part, counts: looks[i]! })),
  );
  for (const end of looked) if (end.status === "rejected") throw end.reason;
  const refused = countTogether(
    parts.flatMap(({ counts }) => counts),
    looks.flat(),
    request.holdBack,
  );
  if (refused) {
    const counting = parts.filter(({ counts }) => counts.some(({ outcome }) => outcome === Outcome.COUNTED));
    const ends = await countParts({ ...request, now: clock(), holdBack: HoldBack.ALWAYS }, counting);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return;
  }
  await countAll({ ...request, now: clock() }, parts, clock, onRefund);
}

/** Counts every part, and takes back what was counted where one part refuses or fails. */
async function countAll(
  request: CountRequest,
  parts: readonly Part[],
  clock: () => number,
  onRefund: RefundListener,
): Promise<void> {
  // A part sees its own counts only, and so cannot tell whether quota rules refuse together.
  const seen = parts.map(({ counts }) => counts.map(forPart));
  const ends = await countParts(
    request,
    parts.map((part, i) => ({ ...part, counts: seen[i]! })),
  );
  parts.forEach(({ counts }, i) => {
    counts.forEach((count, j) => {
      const { outcome, after } = seen[i]![j]!;
      Object.assign(count, { outcome, after });
    });
  });
  const failed = ends.find((end) => end.status === "rejected");
  const all = parts.flatMap(({ counts }) => counts);
  if (failed === undefined && !isRefused(all, (index) => exceedsLimit(all[index]!))) return;
  const counted = parts.filter((_, i) => ends[i]!.status === "fulfilled");
  const refunds = Promise.all(counted.map((part) => takeBack(request, part, onRefund)));
  if (failed !== undefined) throw failed.reason;
  if (request.deadline === 0) await refunds;
  else await within(request.deadline - clock(), refunds);
}

function forPart(count: Count): Count {
  return count.refuses === Refuses.TOGETHER ? { ...count, refuses: Refuses.NEVER } : { ...count };
}

function countParts(request: CountRequest, parts: readonly Part[]): Promise<PromiseSettledResult<void>[]> {
  return Promise.allSettled(parts.map(async (part) => part.count({ ...request, counts: part.counts })));
}

/** Waits for work that goes on afterwards all the same, and that never fails. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ends = new AbortController();
  const patience = sleep(Math.min(Math.max(0, milliseconds), 2 ** 31 - 1), undefined, {
    signal: ends.signal,
  });
  await Promise.race([work, patience.catch(() => {})]);
  ends.abort();
}

/**
 * Takes back the hits that a part counted, except from the counters that exceed. Its counts are held then, each with its
 * counter as it was before. The refund is sent whatever the caller's deadline is, and never touches the counts, which are the
 * caller's again by then.
 */
async function takeBack(request: CountRequest, part: Part, onRefund: RefundListener): Promise<void> {
  const exceeding = new Set(part.counts.filter(exceedsLimit).map(keyOf));
  const others = part.counts.filter(
    (count) => count.outcome === Outcome.COUNTED && count.hits >= 0 && !exceeding.has(keyOf(count)),
  );
  const refunds = others.filter(({ hits }) => hits > 0).map((count) => ({ ...count, hits: -count.hits }));
  const before = new Map<string, number>();
  for (const count of others) {
    const key = keyOf(count);
    if (!before.has(key)) before.set(key, count.after - count.hits);
    count.outcome = Outcome.HELD;
    count.after = before.get(key)!;
  }
  if (refunds.length === 0) return;
  try {
    await part.count({ ...request, deadline: 0, holdBack: HoldBack.NEVER, counts: refunds });
  } catch {
    // The store failed in between: these hits stay. The caller has its answer all the same.
  }
  onRefund(refunds);
}

function keyOf({ stem, windowStart }: Count): string {
  return stem + windowStart;
}
