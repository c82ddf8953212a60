import { setTimeout as sleep } from "node:timers/promises";
import type { CallTrace } from "../../observe/tracing/tracing.ts";
import { holdBackOf } from "../hold-back.ts";
import { type ReservationRequest, type ReservationStore, type ReservedGroup, Step } from "../reservations.ts";
import {
  type AcquireGroup,
  type AcquireRequest,
  type Count,
  type CountRequest,
  HoldBack,
  promised,
  StoreError,
  type Waiter,
  whenAnswered,
} from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { tlsConnectionOptions } from "../transport/tls.ts";
import { acquireAcross } from "./acquire-across.ts";
import { AcquireStep } from "./acquire-step.ts";
import { countAcross, type RefundListener } from "./across.ts";
import { ClusterTopology } from "./cluster-topology.ts";
import type { PoolGauges } from "./connection-pool.ts";
import { Control } from "./control.ts";
import type { Dependencies } from "./dependencies.ts";
import { EarlierWindows, lookAt } from "./earlier-windows.ts";
import { Expiries, noExpiries } from "./expiries.ts";
import { type KvstoreOptions, type ResolvedOptions, resolveOptions } from "./kvstore-options.ts";
import { isElsewhere } from "./ledger-keys.ts";
import { sentinelTopology } from "./sentinel-topology.ts";
import { commitLate, settleAcross } from "./settle-across.ts";
import { singleTopology } from "./single-topology.ts";
import { type ChannelOptions, StoreChannel } from "./store-channel.ts";
import type { KvstoreTarget } from "./target.ts";
import type { Topology } from "./topology.ts";

/**
 * Counters in Redis: a single server, a master with sentinels, or a cluster. The store connects in the background.
 * `onEmpty` decides how calls wait for a connection.
 *
 * A failed call may have been counted once, if its answer was lost. It is never counted twice: the store sends a count
 * again only after a reply that says that nothing was counted.
 */
export class KvstoreStore implements ReservationStore {
  readonly kind = "kvstore";
  readonly readsPlaces: boolean;
  readonly readsPlacesToSettle: boolean;
  /** Figures for `ratelimit.kvstore_pool.*`. */
  readonly gauges: PoolGauges = { cxActive: 0, cxTotal: 0, cxLocalClose: 0 };
  readonly #options: ResolvedOptions;
  readonly #topology: Topology;
  readonly #isCluster: boolean;
  readonly #earlierWindows = new EarlierWindows();
  #closing = false;
  readonly #onRefund: RefundListener | undefined;
  #closed: Promise<void> | undefined;
  #lastError = "";

  /** @throws {TypeError | RangeError} for an invalid option: a number out of range, an unreadable certificate */
  constructor(options: KvstoreOptions) {
    this.#options = resolveOptions(options);
    this.#onRefund = options.onRefund;
    if (options.tls !== undefined) tlsConnectionOptions(options.tls);
    const log = options.log ?? (() => {});
    let connected: boolean | undefined;
    const deps: Dependencies = {
      options: this.#options,
      expiries: options.alwaysExpire ? noExpiries : new Expiries(),
      gauges: this.gauges,
      log,
      failed: (error) => {
        this.#lastError = error.message;
      },
      changed: () => {
        // A store that closes has lost nothing.
        if (this.#closing) return;
        const active = this.gauges.cxActive;
        if (active > 0 !== connected) {
          connected = active > 0;
          if (connected) log("info", "connected to the key-value store");
          else log("warn", `no connection to the key-value store: ${this.#lastError}`);
        }
        options.onConnections?.(active);
      },
    };
    this.#topology = topologyOf(options.target, deps);
    this.#isCluster = options.target.type === "cluster";
    // A cluster needs the texts for the slots.
    this.readsPlaces = this.readsPlacesToSettle = !this.#isCluster;
  }

  /** The reason why the store has no connection; empty if it has one. */
  get fault(): string {
    return this.gauges.cxActive > 0 ? "" : this.#lastError;
  }

  count(request: CountRequest): void | Promise<void> {
    return promised((waiter) => this.countFor(request, waiter));
  }

  countFor(request: CountRequest, waiter: Waiter): boolean {
    const { counts } = request;
    if (this.#closing) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
    const groups =
      holdBackOf(counts, request.holdBack) === HoldBack.NEVER ? undefined : this.#topology.groups(counts);
    const trace = this.#options.tracing?.active;
    if (groups === undefined) return this.#submit(request, trace, waiter);
    const parts = groups.map((group: readonly Count[]) => ({
      counts: group,
      count: (part: CountRequest) => promised((partWaiter) => this.#submit(part, trace, partWaiter)),
    }));
    return whenAnswered(countAcross(request, parts, this.#onRefund), waiter);
  }

  acquire(request: AcquireRequest): void | Promise<void> {
    return promised((waiter) => this.acquireFor(request, waiter));
  }

  acquireFor(request: AcquireRequest, waiter: Waiter): boolean {
    const { groups, holdBack } = request;
    if (this.#closing) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
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
    if (this.#closing) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
    const reportsEnds = this.#isCluster && request.step !== Step.LOOK;
    return reportsEnds ? this.#settleInCluster(request) : this.#settleParts(request);
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    const { groups } = request;
    if (this.#closing || this.#isCluster || groups.length !== 1)
      return whenAnswered(this.settle(request), waiter);
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

  #submit(request: CountRequest, trace: CallTrace | undefined, waiter: Waiter): boolean {
    const { counts } = request;
    if (counts.length === 0) return true;
    const holdBack = holdBackOf(counts, request.holdBack);
    this.#topology.submit(this.#ticketOf(request, counts, holdBack, trace, waiter));
    return false;
  }

  #submitStep(step: AcquireStep, request: Timed, trace: CallTrace | undefined, waiter: Waiter): boolean {
    const ticket = this.#ticketOf(request, NO_COUNTS, HoldBack.NEVER, trace, waiter);
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
    const ticket = this.#ticketOf(request, NO_COUNTS, HoldBack.NEVER, trace, waiter);
    ticket.expect(steps.length);
    this.#topology.submitSteps(steps, ticket);
    return false;
  }

  #ticketOf(
    request: Timed,
    counts: readonly Count[],
    holdBack: HoldBack,
    trace: CallTrace | undefined,
    waiter: Waiter,
  ): Ticket {
    const patience = patienceOf(request);
    const since = performance.now();
    return new Ticket(counts, holdBack, since + patience, since, trace, waiter);
  }

  /** Connections for operators. The caller closes them. */
  control(): Control {
    return new Control(this.#topology, this.#options.timeout);
  }

  /** A channel to the other replicas. @param control see {@link control} */
  channel(control: Control, options: Pick<ChannelOptions, "channel" | "events" | "beat">): StoreChannel {
    return new StoreChannel({ ...options, control, topology: this.#topology });
  }

  close(): Promise<void> {
    this.#closed ??= this.#drainAndClose();
    return this.#closed;
  }

  async #drainAndClose(): Promise<void> {
    // Set before the loop: an idle store closes its connections before this function returns its promise.
    this.#closing = true;
    const latest = performance.now() + this.#options.timeout;
    while (performance.now() < latest && [...this.#topology.nodes()].some((node) => !node.idle))
      await sleep(5);
    this.#topology.close();
  }
}

function seesHolds(groups: readonly AcquireGroup[]): boolean {
  for (let index = 0; index < groups.length; index++) {
    const { limits } = groups[index]!;
    for (let at = 0; at < limits.length; at++) if (limits[at]!.reservations === true) return true;
  }
  return false;
}

/** A request with its instant and its deadline. */
type Timed = Pick<CountRequest, "now" | "deadline">;

/** The groups of a ticket are in its steps. */
const NO_COUNTS: readonly Count[] = [];

/**
 * Milliseconds until a caller's deadline. They are the same on its clock and on ours.
 * @throws {StoreError} if it has passed
 */
function patienceOf({ now, deadline }: Timed): number {
  const patience = deadline === 0 ? Number.POSITIVE_INFINITY : deadline - now;
  if (patience <= 0)
    throw new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the count");
  return patience;
}

function topologyOf(target: KvstoreTarget, deps: Dependencies): Topology {
  switch (target.type) {
    case "single":
      return singleTopology(target, deps);
    case "sentinel":
      return sentinelTopology(target, deps);
    case "cluster":
      return new ClusterTopology(target, deps);
  }
}
