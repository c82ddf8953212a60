import { isRefused } from "../hold-back.ts";
import {
  changesNothing,
  type ReservationRequest,
  type ReservedGroup,
  Step,
  Verdict,
} from "../reservations.ts";
import { Refuses } from "../store.ts";

/** Groups that one atomic step can settle, and a function that does so. */
export interface SettlePart {
  readonly groups: readonly ReservedGroup[];
  settle(request: ReservationRequest): Promise<void>;
}

/**
 * Settles groups over several slots or instances. Each part takes its step alone. If one part refuses a reservation, the
 * others release what they hold: until then, another caller may be refused because of it. A part of a report or of a
 * commit may fail alone. A repeated commit counts nothing where it was counted.
 * @throws {StoreError} of the first failed part, after all parts have ended
 */
export async function settleAcross(request: ReservationRequest, parts: readonly SettlePart[]): Promise<void> {
  const requests = parts.map(({ groups }) => partOf(request, groups));
  const ends = await Promise.allSettled(parts.map(async (part, index) => part.settle(requests[index]!)));
  for (const [index, { groups }] of parts.entries()) copyBack(requests[index]!, groups);
  const failed = ends.find((end) => end.status === "rejected");
  request.verdict = verdictOf(request, requests);
  request.released = requests.some(({ released }) => released);
  request.repeated = requests.some(({ repeated }) => repeated);
  if (request.step === Step.RESERVE && (failed !== undefined || request.verdict !== Verdict.OK))
    await release(request, parts, requests);
  if (failed !== undefined) throw failed.reason;
}

/** A part cannot decide whether quota rules refuse together. Its groups are copies that share their limits. */
function partOf(request: ReservationRequest, groups: readonly ReservedGroup[]): ReservationRequest {
  const seen = groups.map((group) =>
    group.refuses === Refuses.TOGETHER ? { ...group, refuses: Refuses.NEVER } : { ...group },
  );
  return { ...request, groups: seen };
}

function copyBack(part: ReservationRequest, groups: readonly ReservedGroup[]): void {
  for (const [index, group] of groups.entries()) {
    const { outcome, accepted, released, expired } = part.groups[index]!;
    Object.assign(group, { outcome, accepted, released, expired });
  }
}

function verdictOf({ step, groups }: ReservationRequest, parts: readonly ReservationRequest[]): Verdict {
  if (step !== Step.RESERVE && !changesNothing(step)) return Verdict.OK;
  if (parts.some(({ verdict }) => verdict === Verdict.FULL)) return Verdict.FULL;
  return isRefused(groups, (index) => !groups[index]!.accepted) ? Verdict.REFUSED : Verdict.OK;
}

/** Releases what the parts hold, as far as the store answers. A hold that stays ends with its time to live. */
async function release(
  request: ReservationRequest,
  parts: readonly SettlePart[],
  requests: readonly ReservationRequest[],
): Promise<void> {
  const held = parts.filter((_, index) => requests[index]!.verdict === Verdict.OK);
  await Promise.allSettled(
    held.map(async ({ groups, settle }) => {
      // Copies: the caller gets the results of its own step.
      const copies = groups.map((group) => ({
        ...group,
        limits: group.limits.map((limit) => ({ ...limit })),
      }));
      await settle({ ...request, step: Step.CANCEL, groups: copies, deadline: 0 });
    }),
  );
}

/**
 * Commits a reservation whose window has ended, if the holds of the windows are in different slots: looks at the old
 * window, counts in the current one, and remembers the commit in both.
 */
export async function commitLate(
  request: ReservationRequest,
  settle: (request: ReservationRequest) => Promise<void>,
): Promise<void> {
  const old = request.groups.map((group) => ({
    ...group,
    limits: group.limits.map((limit) => ({ ...limit, windowStart: limit.homeStart })),
  }));
  const look = { ...request, step: Step.CHECK, groups: old };
  await settle(look);
  const current = request.groups.map((group) => ({
    ...group,
    limits: group.limits.map((limit) => ({ ...limit, homeStart: limit.windowStart })),
  }));
  const own: ReservationRequest = {
    ...request,
    step: look.repeated ? Step.CHECK : Step.COMMIT,
    groups: current,
  };
  await settle(own);
  copyBack(own, request.groups);
  for (const [index, { limits }] of current.entries())
    for (const [each, { accepted, used, remaining, reset, held }] of limits.entries())
      Object.assign(request.groups[index]!.limits[each]!, { accepted, used, remaining, reset, held });
  request.verdict = Verdict.OK;
  request.released = look.released && !look.repeated;
  request.repeated = look.repeated || own.repeated;
  for (const [index, group] of request.groups.entries()) group.expired += old[index]!.expired;
  if (look.repeated) return;
  const end = { ...request, step: Step.CANCEL, groups: old };
  await settle(end);
  for (const [index, group] of request.groups.entries()) group.released = end.groups[index]!.released;
}
