import type { TraceSpan } from "../../observe/tracing/tracing.ts";
import { type Count, StoreError } from "../store.ts";
import { DeadlineTimer } from "../transport/deadline-timer.ts";
import { expireTickets, startTrip, type Ticket, unavailable } from "../transport/ticket.ts";
import { Batch, type BatchContext, type FreshKey } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { Dependencies } from "./dependencies.ts";
import { Items, SendMode } from "./items.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";
import type { ErrorReply } from "./resp/reader.ts";

/** More counts than this go out in two batches, so that no batch keeps the server from others for long. */
const MAX_BATCH = 1024;
/** Nor more than this many bytes of keys, but for a single count. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** Keys are as long as callers make them. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Beyond this, keys that want their expiry are forgotten, and get it with their next count. */
const MAX_FRESH_BYTES = 8 * 1024 * 1024;
/** With more than this waiting, those whose time is over are looked for every so many milliseconds only. */
const MANY_WAITING = 4096;
const MANY_WAITING_MS = 10;
/** How often a count may be sent elsewhere, on average over its request, before its caller is told that it failed. */
const MAX_REDIRECTIONS = 8;

export interface NodeDependencies extends Dependencies {
  /** Makes one connection to this server. */
  connect(): Promise<Connection>;
  /** An error reply that the node does not deal with itself (MOVED, READONLY). @returns whether the count is taken care of */
  refused(node: StoreNode, error: ErrorReply, count: Count | null, ticket: Ticket): boolean;
  /** A connection was lost, or could not be made. */
  lost(node: StoreNode): void;
}

/** Codes that say that this server cannot serve now: its connection is given up, so that the next is made anew. */
const unusableCodes = new Set(["READONLY", "LOADING", "MASTERDOWN", "NOAUTH"]);

/**
 * One Redis server: counts wait here for a connection, and all that wait go out in one batch (group commit). A
 * count that finds a free connection waits for the end of this turn of the event loop only.
 */
export class StoreNode {
  readonly pool: ConnectionPool;
  readonly #deps: NodeDependencies;
  readonly #options: ResolvedOptions;
  readonly #waiting = new Items();
  readonly #fresh: FreshKey[] = [];
  #freshBytes = 0;
  readonly #batches = new Map<Connection, Batch>();
  readonly #context: BatchContext;
  #scheduled = false;
  #unusableCodes = false;
  /** Rings when somebody has to be told that time is over. */
  readonly #deadlineTimer = new DeadlineTimer((now) => this.#onDeadline(now));
  #overflowAt = 0;
  #closed = false;

  constructor(deps: NodeDependencies) {
    this.#deps = deps;
    const { options } = deps;
    this.#options = options;
    this.pool = new ConnectionPool(options.poolSize, () => deps.connect(), deps.gauges, {
      free: () => this.#schedule(),
      overflowFailed: (error) => this.#failLongWaiting(unavailable(error)),
      changed: () => deps.changed(),
      lost: (error) => {
        deps.failed(error);
        deps.lost(this);
      },
    });
    this.#context = {
      expiries: deps.expiries,
      lifetime: (windowSize) =>
        windowSize + Math.floor(Math.random() * (options.expirationJitterMaxSeconds + 1)),
      refused: (error, count, ticket, mode) => this.#refused(error, count, ticket, mode),
      fresh: (key) => this.#setExpiryLater(key),
    };
    this.pool.fill();
  }

  /** Puts all counts of a ticket here. @throws {StoreError} STORE_FULL when there is no room for them */
  submit(ticket: Ticket): void {
    const { counts } = ticket;
    this.ensureRoom(counts.length);
    if (ticket.atomic) this.push(null, ticket, SendMode.PLAIN);
    else for (let i = 0; i < counts.length; i++) this.push(counts[i]!, ticket, SendMode.PLAIN);
  }

  /** @throws {StoreError} STORE_FULL when too many wait already */
  ensureRoom(counts: number): void {
    if (this.#waiting.length + counts > this.#options.maxWaiting)
      throw new StoreError("STORE_FULL", `${this.#waiting.length} counts wait for the store already`);
    if (this.#waiting.bytes > MAX_WAITING_BYTES)
      throw new StoreError("STORE_FULL", `counts with ${this.#waiting.bytes} bytes of keys wait already`);
  }

  push(count: Count | null, ticket: Ticket, mode: number): void {
    if (this.#closed) {
      ticket.fail(new StoreError("STORE_UNAVAILABLE", "the store is closed"));
      return;
    }
    this.#waiting.push(count, ticket, mode);
    this.#deadlineTimer.at(ticket.deadline);
    if (!this.#scheduled) {
      if (this.pool.hasFree) this.#schedule();
      else this.#wakeForWaiting();
    }
  }

  /** Hands all that wait to somebody else: the node is about to go, or no longer serves them. */
  drain(to: (count: Count | null, ticket: Ticket, mode: number) => void): void {
    const items = new Items();
    items.takeFrom(this.#waiting, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    for (let i = 0; i < items.length; i++) {
      const ticket = items.tickets[i]!;
      if (ticket.done) continue;
      try {
        to(items.counts[i]!, ticket, items.modes[i]!);
      } catch (error) {
        ticket.fail(unavailable(error));
      }
    }
  }

  /** Whether nothing waits and nothing is under mode. */
  get idle(): boolean {
    return (
      this.#waiting.length === 0 &&
      (this.#fresh.length === 0 || this.pool.active === 0) &&
      [...this.#batches.keys()].every((connection) => !connection.busy)
    );
  }

  close(): void {
    this.#closed = true;
    this.#deadlineTimer.clear();
    this.pool.close();
    const error = new StoreError("STORE_UNAVAILABLE", "the store is closed");
    for (const ticket of this.#waiting.tickets) ticket.fail(error);
    this.#waiting.clear();
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    const { pipelineWindow } = this.#options;
    // Below a millisecond the turn of the event loop is the window: Node's timers know no less.
    if (pipelineWindow >= 1) setTimeout(() => this.#flush(), pipelineWindow);
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    while ((this.#waiting.length > 0 || this.#fresh.length > 0) && !this.#closed) {
      const connection = this.pool.take();
      if (connection === undefined) {
        this.#wakeForWaiting();
        return;
      }
      this.#send(connection);
    }
  }

  #send(connection: Connection): void {
    let batch = this.#batches.get(connection);
    if (batch === undefined) {
      for (const known of this.#batches.keys()) if (known.closed) this.#batches.delete(known);
      batch = new Batch(this.#context);
      this.#batches.set(connection, batch);
    }
    batch.items.takeFrom(this.#waiting, MAX_BATCH, MAX_BATCH_BYTES);
    const fresh = this.#fresh.splice(0, MAX_BATCH);
    for (const { stem } of fresh) this.#freshBytes -= stem.length;
    connection.writer.reset();
    try {
      this.#exchange(connection, batch, fresh);
    } catch (error) {
      // Nothing was sent: the callers must not wait for an answer.
      for (const ticket of batch.items.tickets) ticket.fail(unavailable(error));
      batch.items.clear();
      this.pool.discard(connection);
    }
  }

  #exchange(connection: Connection, batch: Batch, fresh: FreshKey[]): void {
    let trip: TraceSpan | undefined;
    const sent = batch.prepare(connection.writer, fresh, (error) => {
      this.#finished(connection, error);
      trip?.end(error?.message);
    });
    if (this.#options.tracing !== undefined)
      trip = startTrip(this.#options.tracing, "KVStore Pipeline Execution", batch.items.tickets, {
        "pipeline length": batch.commands,
      });
    if (sent) connection.send(batch);
    else {
      batch.items.clear();
      this.pool.release(connection, false, true);
    }
  }

  #finished(connection: Connection, error: StoreError | undefined): void {
    const unusable = this.#unusableCodes;
    this.#unusableCodes = false;
    if (error === undefined) {
      if (unusable) this.pool.discard(connection);
      else this.pool.release(connection, true, this.#waiting.length > 0);
    }
    if (this.#waiting.length === 0 && this.#fresh.length === 0) return;
    if (this.#options.pipelineWindow >= 1) this.#schedule();
    else this.#flush();
  }

  #refused(error: ErrorReply, count: Count | null, ticket: Ticket, mode: number): void {
    const { code } = error;
    if (unusableCodes.has(code)) this.#unusableCodes = true;
    const inTime = performance.now() - ticket.since < this.#options.timeout;
    if (inTime && ticket.redirections < MAX_REDIRECTIONS * ticket.counts.length) {
      ticket.redirections++;
      if (code === "NOSCRIPT") {
        this.push(count, ticket, mode | SendMode.WITH_TEXT);
        return;
      }
      if (this.#deps.refused(this, error, count, ticket)) return;
    }
    ticket.fail(new StoreError("STORE_UNAVAILABLE", `the store refused: ${error.message}`));
  }

  /** A key came back fresh (it was evicted, or the server lost its data), or its expiry got lost with a connection. */
  #setExpiryLater({ stem, windowStart, windowSize }: FreshKey): void {
    if (this.#fresh.length >= this.#options.maxWaiting || this.#freshBytes > MAX_FRESH_BYTES) return;
    this.#freshBytes += stem.length;
    this.#fresh.push({ stem, windowStart, windowSize });
    this.#schedule();
  }

  #wakeForWaiting(): void {
    const first = this.#waiting.tickets[0];
    if (first === undefined) return;
    const { onEmpty, onEmptyWait, timeout } = this.#options;
    const wait = onEmpty === "WAIT" ? timeout : Math.min(onEmptyWait, timeout);
    this.#deadlineTimer.at(Math.max(first.since + wait, this.#overflowAt));
  }

  /** Tells everybody whose time is over, and sets the alarm for the next. */
  #onDeadline(now: number): void {
    let next = expireTickets(this.#waiting.tickets, now);
    for (const [connection, batch] of this.#batches)
      if (!connection.closed) next = Math.min(next, batch.expireTickets(now));
    this.#deadlineTimer.at(next, this.#waiting.length > MANY_WAITING ? MANY_WAITING_MS : 1);
    if (this.#waiting.length > 0 && !this.#scheduled) this.#onEmpty(now);
  }

  #onEmpty(now: number): void {
    const { onEmpty, onEmptyWait, timeout } = this.#options;
    const text = `no connection to the store became free within`;
    this.#failOlder(now - timeout, new StoreError("STORE_TIMEOUT", `${text} ${timeout} ms`));
    if (onEmpty === "ERROR")
      this.#failOlder(now - onEmptyWait, new StoreError("STORE_UNAVAILABLE", `${text} ${onEmptyWait} ms`));
    const first = this.#waiting.tickets[0];
    if (first === undefined) return;
    if (onEmpty === "CREATE" && first.since <= now - onEmptyWait && this.#overflowAt <= now) {
      this.#overflowAt = now + Math.max(onEmptyWait, 10);
      this.pool.overflow();
    }
    this.#wakeForWaiting();
    this.#deadlineTimer.at(first.since + timeout);
  }

  #failLongWaiting(error: StoreError): void {
    this.#failOlder(performance.now() - this.#options.onEmptyWait, error);
  }

  /** Fails those who have waited since before a moment; the list is in about that order. */
  #failOlder(since: number, error: StoreError): void {
    this.#waiting.keepOpen((ticket) => {
      if (ticket.since <= since) ticket.fail(error);
    });
  }
}
