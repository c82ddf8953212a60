import { setTimeout as sleep } from "node:timers/promises";
import type { CallTrace, Tracing } from "../../observe/tracing/tracing.ts";
import {
  acquireTogether,
  type CounterState,
  keyOf as counterKeyOf,
  microsecondsOf,
  newCounterState,
} from "../acquire.ts";
import { countTogether } from "../count-together.ts";
import { holdBackOf } from "../hold-back.ts";
import {
  type AcquireRequest,
  type Count,
  type CounterStore,
  type CountRequest,
  HoldBack,
  Outcome,
  Refuses,
  StoreError,
  type Waiter,
} from "../store.ts";
import { Ticket } from "../transport/ticket.ts";
import { tlsConnectionOptions } from "../transport/tls.ts";
import { expiryOf, keyOf } from "./memcached-key.ts";
import { Nodes } from "./nodes.ts";
import { newGauges, type ObjcacheOptions } from "./objcache-options.ts";

type TicketMaker = (until: number, since: number, trace: CallTrace | undefined, waiter: Waiter) => Ticket;

/** A request for limits. Its counts look at the counters. */
class AcquireTicket extends Ticket {
  readonly request: AcquireRequest;

  constructor(request: AcquireRequest, looks: readonly Count[], ...wait: Parameters<TicketMaker>) {
    super(looks, HoldBack.ALWAYS, ...wait);
    this.request = request;
  }
}

/**
 * Counters in memcached nodes. The store reads a counter, answers the call, and sends the increment without waiting for
 * it. Positions are exact within one process. Other processes' hits of one round trip may exceed a limit. Counts that
 * may hold each other back are read first and then counted: hits of concurrent requests may exceed a limit. So are
 * windows that count accepted hits only, and lists of limits. Other algorithms would need a state that nodes change in
 * one step.
 */
export class ObjcacheStore implements CounterStore {
  readonly kind = "objcache";
  /** Figures for `ratelimit.objcache.*`. */
  readonly gauges = newGauges();
  readonly #nodes: Nodes;
  readonly #timeout: number;
  readonly #tracing: Tracing | undefined;
  #closed: Promise<void> | undefined;

  /** @throws {TypeError} for an invalid option: no nodes, a bad name, an unreadable certificate */
  constructor(options: ObjcacheOptions) {
    if (options.tls !== undefined) tlsConnectionOptions(options.tls);
    this.#timeout = options.timeout ?? 500;
    this.#tracing = options.tracing;
    const jitter = options.expirationJitterMaxSeconds ?? 300;
    this.#nodes = new Nodes(options, {
      tls: options.tls,
      timeout: this.#timeout,
      maxWaiting: options.maxWaiting ?? 65_536,
      gauges: this.gauges,
      tracing: options.tracing,
      spanName: options.spanName ?? "ObjCache Fetch Execution",
      expiry: (windowSize) => expiryOf(windowSize, Math.floor(Math.random() * (jitter + 1))),
      looked: (ticket) =>
        ticket instanceof AcquireTicket ? this.#decideLooked(ticket) : this.#countLooked(ticket),
    });
  }

  count(request: CountRequest): void | Promise<void> {
    if (request.counts.length === 0) return;
    return this.#start(request, (until, since, trace, waiter) => {
      const holdBack = holdBackOf(request.counts, request.holdBack);
      return new Ticket(request.counts, holdBack, until, since, trace, waiter);
    });
  }

  /** @throws {StoreError} STORE_UNAVAILABLE for sliding windows and token buckets, which the rules refuse to load */
  acquire(request: AcquireRequest): void | Promise<void> {
    const limits = request.groups.flatMap(({ limits }) => limits);
    if (limits.length === 0) return;
    const other = limits.find(({ algorithm }) => !algorithm.perWindow);
    if (other !== undefined)
      throw new StoreError("STORE_UNAVAILABLE", `memcached does not support ${other.algorithm.name}`);
    // One look at each counter. The decision follows when all looks have their results.
    const looks = new Map<string, Count>();
    for (const limit of limits) {
      const { stem, windowStart, windowSize } = limit;
      const look: Count = {
        stem,
        windowStart,
        windowSize,
        hits: 0,
        limit: 0,
        refuses: Refuses.NEVER,
        outcome: 0,
        after: 0,
      };
      looks.set(counterKeyOf(limit), look);
    }
    const counts = [...looks.values()];
    return this.#start({ ...request, counts }, (...wait) => new AcquireTicket(request, counts, ...wait));
  }

  #start(request: CountRequest, makeTicket: TicketMaker): void | Promise<void> {
    if (this.#closed !== undefined) throw new StoreError("STORE_UNAVAILABLE", "the store is closed");
    const keys = request.counts.map(keyOf);
    if (this.#nodes.size === 0) return this.#startWhenKnown(request, keys, makeTicket);
    return this.#submit(request, keys, performance.now(), makeTicket);
  }

  /** Resolves when every increment of an answered call is acknowledged or lost. */
  async flushed(): Promise<void> {
    while ([...this.#nodes.connections()].some((connection) => !connection.idle)) await sleep(1);
  }

  close(): Promise<void> {
    this.#closed ??= this.#flushAndClose();
    return this.#closed;
  }

  async #flushAndClose(): Promise<void> {
    const ends = new AbortController();
    const patience = sleep(this.#timeout * 2, undefined, { signal: ends.signal });
    await Promise.race([this.flushed(), patience.catch(() => {})]);
    ends.abort();
    this.#nodes.close();
  }

  async #startWhenKnown(
    request: CountRequest,
    keys: readonly string[],
    makeTicket: TicketMaker,
  ): Promise<void> {
    const since = performance.now();
    const ends = new AbortController();
    const left = request.deadline === 0 ? Number.POSITIVE_INFINITY : request.deadline - request.now;
    const patience = sleep(Math.max(0, Math.min(left, this.#timeout)), "over", { signal: ends.signal });
    const end = await Promise.race([this.#nodes.first, patience.catch(() => {})]);
    ends.abort();
    if (end === "over" && left <= this.#timeout)
      throw new StoreError(
        "DEADLINE_EXCEEDED",
        "the caller's deadline passed before the nodes were looked up",
      );
    if (this.#nodes.size === 0)
      throw new StoreError(
        "STORE_UNAVAILABLE",
        "the lookup of the object cache's nodes has not succeeded yet",
      );
    await this.#submit(request, keys, since, makeTicket);
  }

  /** @param since start of the caller's wait, on the monotonic clock */
  #submit(
    request: CountRequest,
    keys: readonly string[],
    since: number,
    makeTicket: TicketMaker,
  ): Promise<void> {
    const { counts, deadline } = request;
    const patience = deadline === 0 ? Number.POSITIVE_INFINITY : deadline - request.now;
    if (patience <= 0)
      throw new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the count");
    const until = since + patience;
    const connections = keys.map((key) => this.#nodes.connectionOf(key));
    for (const connection of connections) connection.ensureRoom();
    return new Promise((answered, failed) => {
      const ticket = makeTicket(until, since, this.#tracing?.active, { answered, failed });
      ticket.expect(counts.length);
      for (let i = 0; i < counts.length; i++)
        connections[i]!.push({ key: keys[i]!, count: counts[i]!, ticket });
    });
  }

  #decideLooked({ request, counts }: AcquireTicket): void {
    const states = new Map<string, CounterState>();
    for (const count of counts)
      states.set(count.stem + count.windowStart, newCounterState({ level: count.after }));
    const all = request.groups.flatMap(({ limits }) =>
      limits.map((limit) => states.get(counterKeyOf(limit))!),
    );
    acquireTogether(request, all, microsecondsOf(request));
    for (const count of counts) {
      const key = keyOf(count);
      const { level, changed } = states.get(key)!;
      if (changed) this.#nodes.connectionOf(key).add(key, level - count.after, count.windowSize);
    }
  }

  /** On entry every count's `after` is the value of its counter. */
  #countLooked({ counts, holdBack }: Ticket): void {
    const looks = counts.map(({ after }) => ({ outcome: Outcome.COUNTED, after }));
    countTogether(counts, looks, holdBack);
    const positions = new Map<string, number>();
    for (const [i, count] of counts.entries()) {
      if (count.outcome !== Outcome.COUNTED) continue;
      const key = keyOf(count);
      const before = positions.get(key) ?? looks[i]!.after;
      this.#nodes.connectionOf(key).add(key, count.after - before, count.windowSize);
      positions.set(key, count.after);
    }
  }
}
