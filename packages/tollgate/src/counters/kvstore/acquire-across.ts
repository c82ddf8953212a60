import { keyOf } from "../acquire.ts";
import { isRefused } from "../hold-back.ts";
import { type AcquireGroup, type AcquireRequest, HoldBack, Outcome, Refuses } from "../store.ts";
import { type RefundListener, within } from "./across.ts";

/** Groups that one atomic step can decide, and a function that decides them. */
export interface AcquirePart {
  readonly groups: readonly AcquireGroup[];
  acquire(request: AcquireRequest): void | Promise<void>;
}

/**
 * Decides groups over several slots, servers or instances, if they may hold each other back. The first step counts
 * refused groups and refunds, and holds all other groups. If nothing refuses the request, the second step counts the
 * held groups. A part may still refuse, because another caller was faster. The other parts then refund their hits.
 *
 * The bound is that of `countAcross`: hits that are refunded later may get other callers refused, and a call may pass
 * uncounted if a refund comes between the two steps. Refunds are complete unless the store fails in between.
 * @param onRefund called after a refund, even if the store may have failed it
 * @throws {StoreError} of the first failed part, after all parts have ended
 */
export async function acquireAcross(
  request: AcquireRequest,
  parts: readonly AcquirePart[],
  onRefund: RefundListener = () => {},
): Promise<void> {
  const { now, deadline } = request;
  const begun = performance.now();
  /** The deadline, as if the request began now. Its instant stays: the limits of a request share one present. */
  const restOfDeadline = () => (deadline === 0 ? 0 : deadline - (performance.now() - begun));
  const all = parts.flatMap(({ groups }) => groups);
  await acquireParts({ ...request, holdBack: HoldBack.ALWAYS }, parts, true);
  if (request.holdBack === HoldBack.ALWAYS || areRefused(all)) return;
  // A part has only its own groups, so it cannot decide whether quota rules refuse together.
  const held = parts.map((part) => {
    const groups = part.groups.filter(({ outcome }) => outcome === Outcome.HELD);
    const seen = groups.map((group) =>
      group.refuses === Refuses.TOGETHER ? { ...group, refuses: Refuses.NEVER } : { ...group },
    );
    return { groups, part: { ...part, groups: seen } };
  });
  const waiting = held.filter(({ groups }) => groups.length > 0);
  const ends = await acquireParts(
    { ...request, holdBack: HoldBack.WHEN_REFUSED, deadline: restOfDeadline() },
    waiting.map(({ part }) => part),
    false,
  );
  for (const { groups, part } of waiting)
    groups.forEach((group, i) => {
      const { outcome, accepted } = part.groups[i]!;
      Object.assign(group, { outcome, accepted });
    });
  const failed = ends.find((end) => end.status === "rejected");
  if (failed === undefined && !areRefused(all)) return;
  const exceeding = new Set(
    all.flatMap(({ limits }) => limits.filter(({ accepted }) => !accepted).map(keyOf)),
  );
  const refunds = Promise.all(
    waiting
      .filter((_, i) => ends[i]!.status === "fulfilled")
      .map(({ groups, part }) => refund(request, { ...part, groups }, exceeding, onRefund)),
  );
  if (failed !== undefined) throw failed.reason;
  if (deadline === 0) await refunds;
  else await within(restOfDeadline() - now, refunds);
}

function areRefused(groups: readonly AcquireGroup[]): boolean {
  return isRefused(groups, (index) => !groups[index]!.accepted);
}

async function acquireParts(
  request: AcquireRequest,
  parts: readonly AcquirePart[],
  throws: boolean,
): Promise<PromiseSettledResult<void>[]> {
  const ends = await Promise.allSettled(
    parts.map(async (part) => part.acquire({ ...request, groups: part.groups })),
  );
  if (throws) for (const end of ends) if (end.status === "rejected") throw end.reason;
  return ends;
}

/**
 * Refunds the hits that a part has just counted, except those of limits that refuse. The refunded groups become held
 * groups, without their hits. The refund ignores the caller's deadline. It uses copies: the caller may already reuse the
 * groups.
 */
async function refund(
  request: AcquireRequest,
  part: AcquirePart,
  exceeding: ReadonlySet<string>,
  onRefund: RefundListener,
): Promise<void> {
  const others = part.groups.filter(
    ({ outcome, accepted, limits }) =>
      outcome === Outcome.COUNTED && accepted && !limits.some((limit) => exceeding.has(keyOf(limit))),
  );
  const refunds = others
    .filter(({ hits }) => hits > 0)
    .map((group) => ({
      ...group,
      hits: -group.hits,
      limits: group.limits.map((limit) => ({ ...limit })),
    }));
  for (const group of others) {
    group.outcome = Outcome.HELD;
    for (const limit of group.limits) {
      limit.used = Math.max(limit.used - group.hits, 0);
      limit.remaining += group.hits;
    }
  }
  if (refunds.length === 0) return;
  try {
    await part.acquire({ ...request, deadline: 0, holdBack: HoldBack.NEVER, groups: refunds });
  } catch {
    // The store failed in between: these hits stay. The caller still gets its answer.
  }
  onRefund(refunds.flatMap(({ limits }) => limits));
}
