import { setTimeout as sleep } from "node:timers/promises";
import { countTogether } from "../count-together.ts";
import { exceedsLimit, isRefused } from "../hold-back.ts";
import { type Count, type CountRequest, HoldBack, Outcome, Refuses } from "../store.ts";

/** Counts that one atomic step can make, and a function that makes them. */
export interface Part {
  readonly counts: readonly Count[];
  count(request: CountRequest): void | Promise<void>;
}

/** Receives the refunds of a call that another part refused or failed. */
export type RefundListener = (refunds: readonly { readonly stem: string }[]) => void;

/**
 * Counts over several slots, servers or instances, if the counts may hold each other back and no single step reaches
 * all counters. The first step looks at all counters. If the looks refuse the request, only the parts with a counter
 * that exceeds, or with a refund, count; they hold their other counts back. Otherwise every part counts. A part may
 * still refuse, because another caller was faster. The other parts then refund their hits.
 *
 * The bound: between the steps, hits that are refunded later may get other callers refused. A call may pass uncounted
 * if another caller's refund lowers the exceeding counter between the two steps. Refunds are complete unless the store
 * fails in between.
 * @param onRefund called after a refund, even if the store may have failed it
 * @throws {StoreError} of the first failed part, after all parts have ended
 */
export async function countAcross(
  request: CountRequest,
  parts: readonly Part[],
  onRefund: RefundListener = () => {},
): Promise<void> {
  const begun = performance.now();
  /** The present time on the caller's clock, for the rest of its deadline. */
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

/** Counts every part. If a part refuses or fails, refunds the hits of the others. */
async function countAll(
  request: CountRequest,
  parts: readonly Part[],
  clock: () => number,
  onRefund: RefundListener,
): Promise<void> {
  // A part has only its own counts, so it cannot decide whether quota rules refuse together.
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
  const refunds = Promise.all(counted.map((part) => refundPart(request, part, onRefund)));
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

/** Waits for work, at most for this time. The work continues afterwards and never fails. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ends = new AbortController();
  const patience = sleep(Math.min(Math.max(0, milliseconds), 2 ** 31 - 1), undefined, {
    signal: ends.signal,
  });
  await Promise.race([work, patience.catch(() => {})]);
  ends.abort();
}

/**
 * Refunds the hits of a part, except those of exceeding counters. The refunded counts become held counts with the
 * earlier values of their counters. The refund ignores the caller's deadline. It uses copies of the counts: the caller
 * may already reuse them.
 */
async function refundPart(request: CountRequest, part: Part, onRefund: RefundListener): Promise<void> {
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
    // The store failed in between: these hits stay. The caller still gets its answer.
  }
  onRefund(refunds);
}

function keyOf({ stem, windowStart }: Count): string {
  return stem + windowStart;
}
