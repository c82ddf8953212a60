import type { CallTrace } from "../../observe/tracing/tracing.ts";
import { holdBackOf } from "../hold-back.ts";
import { type ReservationRequest, type ReservedGroup, Step } from "../reservations.ts";
import {
  type AcquireGroup,
  type AcquireRequest,
  HoldBack,
  promised,
  type Waiter,
  whenAnswered,
} from "../store.ts";
import { type Timed, ticketOf } from "../transport/ticket.ts";
import { acquireAcross } from "./acquire-across.ts";
import { AcquireStep } from "./acquire-step.ts";
import type { RefundListener } from "./across.ts";
import { EarlierWindows, lookAt } from "./earlier-windows.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";
import { isElsewhere } from "./ledger-keys.ts";
import { commitLate, settleAcross } from "./settle-across.ts";
import type { Topology } from "./topology.ts";

/** The limits of any algorithm, and the reservations, of a store in Redis. Its methods are those of the store. */
export class KvstoreLimits {
  readonly #options: Pick<ResolvedOptions, "tracing">;
  readonly #topology: Topology;
  readonly #isCluster: boolean;
  readonly #earlierWindows = new EarlierWindows();
  readonly #onRefund: RefundListener | undefined;

  constructor(
    options: Pick<ResolvedOptions, "tracing">,
    topology: Topology,
    onRefund: RefundListener | undefined,
  ) {
    this.#options = options;
    this.#topology = topology;
    this.#isCluster = topology.isSharded;
    this.#onRefund = onRefund;
  }

  acquireFor(request: AcquireRequest, waiter: Waiter): boolean {
    const { groups, holdBack } = request;
    if (groups.length === 0) return true;
    const trace = this.#options.tracing?.active;
    if (groups.length === 1)
      return this.#submitStep(
        this.#stepOf(request, groups, this.#topology.slotOf(groups[0]!)),
        request,
        trace,
        waiter,
      );
    const steps = this.#stepsOf(request);
    if (steps.length < 2 || holdBackOf(groups, holdBack) === HoldBack.NEVER)
      return this.#submitSteps(steps, request, trace, waiter);
    const parts = steps.map(({ groups }) => ({
      groups,
      acquire: (part: AcquireRequest) =>
        promised((partWaiter) => this.#submitSteps(this.#stepsOf(part), part, trace, partWaiter)),
    }));
    return whenAnswered(acquireAcross(request, parts, this.#onRefund), waiter);
  }

  settle(request: ReservationRequest): void | Promise<void> {
    const reportsEnds = this.#isCluster && request.step !== Step.LOOK;
    return reportsEnds ? this.#settleInCluster(request) : this.#settleParts(request);
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    const { groups } = request;
    if (this.#isCluster || groups.length !== 1) return whenAnswered(this.settle(request), waiter);
    const step = this.#stepToSettle(request, this.#topology.slotOf(groups[0]!));
    return this.#submitStep(step, request, this.#options.tracing?.active, waiter);
  }

  /** Also reports the holds that have ended with an earlier window. */
  async #settleInCluster(request: ReservationRequest): Promise<void> {
    const windows = this.#earlierWindows;
    const earlier = windows.take(request);
    const looks = earlier.map(({ old }) => this.#settleParts(lookAt(request, [old])));
    const [settled, ...looked] = await Promise.allSettled([this.#settleParts(request), ...looks]);
    const failed = earlier.filter((_, index) => looked[index]!.status === "rejected");
    windows.giveBack(failed);
    if (settled.status === "rejected") throw settled.reason;
    windows.note(request);
    for (const one of earlier) if (!failed.includes(one)) one.group.expired += one.old.expired;
  }

  #settleParts(request: ReservationRequest): Promise<void> {
    const { groups, step } = request;
    const isEnd = step === Step.COMMIT || step === Step.CANCEL;
    const mayBeLate = isEnd && this.#isCluster;
    const trace = this.#options.tracing?.active;
    if (groups.length === 1 && !mayBeLate)
      return this.#settlePart(request, this.#topology.slotOf(groups[0]!), trace);
    const bySlot = Map.groupBy(groups, (group: ReservedGroup) =>
      mayBeLate && group.limits.some(isElsewhere) ? group : this.#topology.slotOf(group),
    );
    const parts = Array.from(bySlot, ([place, groups]) => ({
      groups,
      settle: (part: ReservationRequest) =>
        typeof place === "number"
          ? this.#settlePart(part, place, trace)
          : commitLate(part, (one) => this.#settlePart(one, this.#topology.slotOf(one.groups[0]!), trace)),
    }));
    return parts.length === 1 ? parts[0]!.settle(request) : settleAcross(request, parts);
  }

  #settlePart(request: ReservationRequest, slot: number, trace: CallTrace | undefined): Promise<void> {
    const step = this.#stepToSettle(request, slot);
    return new Promise((answered, failed) => this.#submitStep(step, request, trace, { answered, failed }));
  }

  #stepToSettle(request: ReservationRequest, slot: number): AcquireStep {
    const settled = { request, isDecision: false, isCluster: this.#isCluster } as const;
    return new AcquireStep(request.groups, HoldBack.NEVER, request.now, slot, settled);
  }

  /** One step for each slot. */
  #stepsOf(request: AcquireRequest): readonly AcquireStep[] {
    const bySlot = Map.groupBy(request.groups, (group: AcquireGroup) => this.#topology.slotOf(group));
    return [...bySlot].map(([slot, groups]) => this.#stepOf(request, groups, slot));
  }

  #stepOf(request: AcquireRequest, groups: readonly AcquireGroup[], slot: number): AcquireStep {
    const { holdBack, now } = request;
    if (!seesHolds(groups)) return new AcquireStep(groups, holdBack, now, slot);
    const settled = {
      request: { ...request, groups },
      isDecision: true,
      isCluster: this.#isCluster,
    } as const;
    return new AcquireStep(groups, holdBack, now, slot, settled);
  }

  #submitStep(step: AcquireStep, request: Timed, trace: CallTrace | undefined, waiter: Waiter): boolean {
    const ticket = ticketOf(request, [], HoldBack.NEVER, trace, waiter);
    ticket.expect(1);
    this.#topology.submitSteps([step], ticket);
    return false;
  }

  #submitSteps(
    steps: readonly AcquireStep[],
    request: Timed,
    trace: CallTrace | undefined,
    waiter: Waiter,
  ): boolean {
    const ticket = ticketOf(request, [], HoldBack.NEVER, trace, waiter);
    ticket.expect(steps.length);
    this.#topology.submitSteps(steps, ticket);
    return false;
  }
}

function seesHolds(groups: readonly AcquireGroup[]): boolean {
  for (let index = 0; index < groups.length; index++) {
    const { limits } = groups[index]!;
    for (let at = 0; at < limits.length; at++) if (limits[at]!.reservations === true) return true;
  }
  return false;
}
