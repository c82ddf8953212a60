import { setTimeout as sleep } from "node:timers/promises";
import type { CallTrace } from "../../observe/tracing/tracing.ts";
import { holdBackOf } from "../hold-back.ts";
import type { ReservationRequest, ReservationStore } from "../reservations.ts";
import {
  type AcquireRequest,
  type Count,
  type CountRequest,
  HoldBack,
  promised,
  StoreError,
  type Waiter,
  whenAnswered,
} from "../store.ts";
import { ticketOf } from "../transport/ticket.ts";
import { tlsConnectionOptions } from "../transport/tls.ts";
import { countAcross, type RefundListener } from "./across.ts";
import { ClusterTopology } from "./cluster-topology.ts";
import type { PoolGauges } from "./connection-pool.ts";
import { Control } from "./control.ts";
import type { Dependencies } from "./dependencies.ts";
import { Expiries, noExpiries } from "./expiries.ts";
import { KvstoreLimits } from "./kvstore-limits.ts";
import { type KvstoreOptions, type ResolvedOptions, resolveOptions } from "./kvstore-options.ts";
import { sentinelTopology } from "./sentinel-topology.ts";
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
  /** Figures for `ratelimit.kvstore_pool.*`. */
  readonly gauges: PoolGauges = { cxActive: 0, cxTotal: 0, cxLocalClose: 0 };
  readonly #options: ResolvedOptions;
  readonly #topology: Topology;
  readonly #limits: KvstoreLimits;
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
    this.#limits = new KvstoreLimits(this.#options, this.#topology, options.onRefund);
    // A cluster needs the texts for the slots.
    this.readsPlaces = !this.#topology.isSharded;
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
    this.#checkOpen();
    const trace = this.#options.tracing?.active;
    const holdBack = holdBackOf(counts, request.holdBack);
    const groups = holdBack === HoldBack.NEVER ? undefined : this.#topology.groups(counts);
    if (groups !== undefined) return this.#countAcross(request, groups, trace, waiter);
    if (counts.length > 0) this.#topology.submit(ticketOf(request, counts, holdBack, trace, waiter));
    return counts.length === 0;
  }

  /** Counts that may hold each other back, on several servers or slots. */
  #countAcross(
    request: CountRequest,
    groups: readonly (readonly Count[])[],
    trace: CallTrace | undefined,
    waiter: Waiter,
  ): boolean {
    const parts = groups.map((counts) => ({
      counts,
      count: (part: CountRequest) =>
        promised((partWaiter) => {
          const holdBack = holdBackOf(part.counts, part.holdBack);
          this.#topology.submit(ticketOf(part, part.counts, holdBack, trace, partWaiter));
          return false;
        }),
    }));
    return whenAnswered(countAcross(request, parts, this.#onRefund), waiter);
  }

  acquire(request: AcquireRequest): void | Promise<void> {
    return promised((waiter) => this.acquireFor(request, waiter));
  }

  acquireFor(request: AcquireRequest, waiter: Waiter): boolean {
    this.#checkOpen();
    return this.#limits.acquireFor(request, waiter);
  }

  settle(request: ReservationRequest): void | Promise<void> {
    this.#checkOpen();
    return this.#limits.settle(request);
  }

  settleFor(request: ReservationRequest, waiter: Waiter): boolean {
    this.#checkOpen();
    return this.#limits.settleFor(request, waiter);
  }

  #checkOpen(): void {
    if (this.#closing) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
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
