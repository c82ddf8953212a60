import { type AcquireGroup, type Count, StoreError } from "../store.ts";
import { type Endpoint, formatEndpoint } from "../transport/endpoint.ts";
import type { Ticket } from "../transport/ticket.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { readRedirection, readSlots } from "./cluster-slots.ts";
import type { Connection } from "./connection.ts";
import type { Dependencies } from "./dependencies.ts";
import { StoreNode } from "./node.ts";
import { openConnection } from "./open-connection.ts";
import { Part, SendMode } from "./part.ts";
import type { ErrorReply } from "./resp/reply.ts";
import { SLOT_COUNT, slotOf, slotOfWindow } from "./slots.ts";
import type { ClusterTarget } from "./target.ts";
import type { Topology } from "./topology.ts";

/** Milliseconds between two reads of the slots: normally, and while a server is unavailable. */
const REFRESH_MS = 1000;
const URGENT_REFRESH_MS = 250;
/** Timeout for reading the slots from one server. Then the next server is used. */
const CONTROL_TIMEOUT_MS = 500;
/** The shortest time between two reads, however many MOVED replies arrive. */
const MIN_REFRESH_MS = 50;
/** Time for a server that lost its slots to answer its pending calls. */
const GRACE_MS = 1000;
/** Wait after TRYAGAIN: while a slot migrates, a script needs all of its keys on one server. */
const TRY_AGAIN_MS = 20;

/** A cluster: each count goes to the server of its key's slot. The parts of a request go out at the same time. */
export class ClusterTopology implements Topology {
  readonly #target: ClusterTarget;
  readonly #deps: Dependencies;
  /** Nodes by their formatted endpoint. */
  readonly #nodes = new Map<string, StoreNode>();
  readonly #endpoints = new Map<StoreNode, Endpoint>();
  readonly #slots: (StoreNode | undefined)[] = new Array(SLOT_COUNT).fill(undefined);
  /** The connection that reads the slots. */
  #control: Connection | undefined;
  /** Servers without slots, and the monotonic time at which they lost them. */
  readonly #unused = new Map<StoreNode, number>();
  #refreshing = false;
  #timer: NodeJS.Timeout | undefined;
  /** Times of the last and the next read of the slots, on the monotonic clock. */
  #refreshed = Number.NEGATIVE_INFINITY;
  #refreshAt = Number.POSITIVE_INFINITY;
  #closed = false;
  #turn = 0;

  constructor(target: ClusterTarget, deps: Dependencies) {
    this.#target = target;
    this.#deps = deps;
    for (const endpoint of target.nodes) this.#node(endpoint);
    this.#refreshIn(0);
  }

  submit(ticket: Ticket): void {
    const { counts } = ticket;
    if (ticket.atomic) this.#submit([new Part(ticket, counts, SendMode.PLAIN)]);
    else this.#submit(counts.map((count) => new Part(ticket, [count], SendMode.PLAIN)));
  }

  groups(counts: readonly Count[]): readonly (readonly Count[])[] | undefined {
    const groups = Map.groupBy(counts, (count) => slotOfWindow(count.stem, count.windowStart));
    return groups.size > 1 ? [...groups.values()] : undefined;
  }

  submitSteps(steps: readonly AcquireStep[], ticket: Ticket): void {
    this.#submit(steps.map((step) => new Part(ticket, [], SendMode.PLAIN, step)));
  }

  #submit(parts: readonly Part[]): void {
    const nodes = parts.map((part) => this.#nodeOf(part));
    for (const [i, { step }] of parts.entries()) nodes[i]!.ensureRoom(step?.groups.length ?? 1);
    for (const [i, part] of parts.entries()) nodes[i]!.push(part);
  }

  slotOf({ limits }: AcquireGroup): number {
    const { stem, algorithm, windowStart } = limits[0]!;
    return algorithm.perWindow ? slotOfWindow(stem, windowStart) : slotOf(stem);
  }

  readonly isSharded = true;

  open(slot: number, exchangeTimeout?: number): Promise<Connection> {
    const node = this.#slots[slot] ?? this.#anyNode();
    this.#refreshIn(0);
    return this.#open(this.#endpoints.get(node)!, exchangeTimeout);
  }

  serves(slot: number, endpoint: Endpoint): boolean {
    const node = this.#slots[slot];
    return node !== undefined && formatEndpoint(this.#endpoints.get(node)!) === formatEndpoint(endpoint);
  }

  /** In the order of their addresses. */
  servers(): readonly (() => Promise<Connection>)[] {
    const nodes = new Set(this.#slots.filter((node) => node !== undefined));
    const endpoints = [...nodes].map((node) => this.#endpoints.get(node)!);
    endpoints.sort((one, other) => (formatEndpoint(one) < formatEndpoint(other) ? -1 : 1));
    return endpoints.map((endpoint) => () => this.#open(endpoint));
  }

  #open(endpoint: Endpoint, exchangeTimeout = this.#deps.options.timeout): Promise<Connection> {
    const { tls, credentials, timeout } = this.#deps.options;
    const greeting = [["PING"]];
    return openConnection({ endpoint, tls, credentials, greeting, timeout, exchangeTimeout });
  }

  nodes(): Iterable<StoreNode> {
    return this.#nodes.values();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#control?.destroy();
    for (const node of this.#nodes.values()) node.close();
  }

  #nodeOf(part: Part): StoreNode {
    // Before the slots are known, any server works: it replies with MOVED.
    return this.#slots[slotOfPart(part)] ?? this.#anyNode();
  }

  #anyNode(): StoreNode {
    const nodes = [...this.#nodes.values()];
    return nodes.find((node) => node.pool.active > 0) ?? nodes[0]!;
  }

  #node(endpoint: Endpoint): StoreNode {
    const id = formatEndpoint(endpoint);
    let node = this.#nodes.get(id);
    if (node === undefined) {
      node = new StoreNode({
        ...this.#deps,
        connect: () => this.#open(endpoint),
        refused: (from, error, part) => this.#refused(from, error, part),
        lost: () => this.#refreshIn(URGENT_REFRESH_MS),
      });
      this.#nodes.set(id, node);
      this.#endpoints.set(node, endpoint);
    }
    return node;
  }

  /** All of these replies mean that nothing was counted. */
  #refused(from: StoreNode, error: ErrorReply, part: Part): boolean {
    const { code } = error;
    const { ticket } = part;
    switch (code) {
      case "MOVED":
      case "ASK": {
        const redirection = readRedirection(error, this.#endpoints.get(from)!);
        if (redirection === undefined) return false;
        const node = this.#node(redirection.target);
        if (code === "MOVED") {
          this.#slots[redirection.slot] = node;
          this.#refreshIn(0);
        }
        node.push(part.again(code === "MOVED" ? SendMode.PLAIN : SendMode.ASKING));
        return true;
      }
      case "TRYAGAIN":
        // Not a redirection: retries continue until the slot has moved, within the timeout.
        ticket.redirections--;
        setTimeout(
          () => {
            if (!ticket.done) this.#nodeOf(part).push(part.again(SendMode.ALONE));
          },
          Math.min(TRY_AGAIN_MS, Math.max(0, ticket.deadline - performance.now())),
        );
        return true;
      case "CLUSTERDOWN":
        this.#useNextServer();
        this.#refreshIn(URGENT_REFRESH_MS);
        return false;
      default:
        return false;
    }
  }

  /** Schedules a read of the slots. Keeps an earlier schedule: repeated failures must not postpone it. */
  #refreshIn(delay: number): void {
    const at = Math.max(performance.now() + delay, this.#refreshed + MIN_REFRESH_MS);
    if (this.#closed || at >= this.#refreshAt) return;
    this.#refreshAt = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#refreshAt = Number.POSITIVE_INFINITY;
        void this.#refresh();
      },
      Math.max(0, at - performance.now()),
    );
    this.#timer.unref();
  }

  async #refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#refreshIn(URGENT_REFRESH_MS);
      return;
    }
    this.#refreshing = true;
    this.#refreshed = performance.now();
    try {
      const connection = await this.#controlConnection();
      const [reply] = await connection.commands([["CLUSTER", "SLOTS"]]);
      if (!this.#closed) this.#apply(readSlots(reply!, connection.endpoint));
      const incomplete = [...this.#nodes.values()].some((node) => node.pool.active === 0);
      if (incomplete) this.#useNextServer();
      this.#refreshIn(incomplete ? URGENT_REFRESH_MS : REFRESH_MS);
    } catch (error) {
      if (this.#closed) return;
      this.#useNextServer();
      this.#deps.log("info", `could not read the cluster's slots: ${(error as Error).message}`);
      this.#refreshIn(URGENT_REFRESH_MS);
    } finally {
      this.#refreshing = false;
    }
  }

  /** Reads the slots from the next server. A server that lost its cluster keeps reporting outdated slots. */
  #useNextServer(): void {
    this.#control?.destroy();
    this.#control = undefined;
  }

  async #controlConnection(): Promise<Connection> {
    if (this.#control !== undefined && !this.#control.closed) return this.#control;
    const candidates = [...this.#endpoints.values(), ...this.#target.nodes];
    const endpoint = candidates[this.#turn++ % candidates.length]!;
    const { tls, credentials, timeout } = this.#deps.options;
    const connection = await openConnection({
      endpoint,
      tls,
      credentials,
      greeting: [["PING"]],
      timeout: Math.min(timeout, CONTROL_TIMEOUT_MS),
    });
    if (this.#closed) connection.destroy();
    this.#control = connection;
    return connection;
  }

  /** Applies the slots. Removes servers without slots and sends their waiting counts to the new servers. */
  #apply(ranges: readonly { from: number; to: number; master: Endpoint }[]): void {
    if (ranges.length === 0) throw new StoreError("STORE_UNAVAILABLE", "the cluster has no slots");
    const used = new Set<StoreNode>();
    let changed = false;
    for (const { from, to, master } of ranges) {
      const node = this.#node(master);
      used.add(node);
      for (let slot = from; slot <= to; slot++) {
        if (this.#slots[slot] !== node) changed = true;
        this.#slots[slot] = node;
      }
    }
    if (changed) for (const node of this.#nodes.values()) this.#redistribute(node);
    for (const [id, node] of this.#nodes) {
      if (used.has(node)) this.#unused.delete(node);
      else this.#retire(id, node);
    }
  }

  /** Moves waiting counts to the present servers of their slots. */
  #redistribute(node: StoreNode): void {
    node.drain((part) => {
      const target = (part.mode & SendMode.ASKING) !== 0 ? node : this.#nodeOf(part);
      target.push(part);
    });
  }

  /** Closes a server without slots when its pending calls are answered, or after the grace period. */
  #retire(id: string, node: StoreNode): void {
    const now = performance.now();
    const since = this.#unused.get(node) ?? now;
    this.#unused.set(node, since);
    if (!node.idle && now - since < GRACE_MS) {
      this.#refreshIn(GRACE_MS);
      return;
    }
    this.#unused.delete(node);
    this.#nodes.delete(id);
    this.#endpoints.delete(node);
    node.close();
    this.#deps.changed();
  }
}

function slotOfPart({ step, counts }: Part): number {
  return step?.slot ?? slotOfWindow(counts[0]!.stem, counts[0]!.windowStart);
}
