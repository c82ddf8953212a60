import { StoreError } from "../store.ts";
import { DeadlineTimer } from "../transport/deadline-timer.ts";
import { expireTickets, type Ticket, unavailable } from "../transport/ticket.ts";
import { startTrip } from "../transport/trip.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { Batch } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { Dependencies } from "./dependencies.ts";
import type { ResolvedOptions } from "./kvstore-options.ts";
import type { BatchContext, FreshKey } from "./op.ts";
import { Part, SendMode } from "./part.ts";
import { Queue } from "./queue.ts";
import type { ErrorReply } from "./resp/reply.ts";

/** A batch ends with the ticket that has this count, so that no batch blocks the server for long. */
const MAX_BATCH = 1024;
/** Bytes of keys with which a batch also ends. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** Bytes of keys that may wait: callers choose the length of their keys. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Bytes of keys that may wait for EXPIRE. Further keys get their expiry with their next count. */
const MAX_FRESH_BYTES = 8 * 1024 * 1024;
/** With more waiting counts, deadlines are checked at most once in this many milliseconds. */
const MANY_WAITING = 4096;
const MANY_WAITING_MS = 10;
/** Average number of redirections for each count of a request. Beyond it the request fails. */
const MAX_REDIRECTIONS = 8;

export interface NodeDependencies extends Dependencies {
  /** Opens a connection to this server. */
  connect(): Promise<Connection>;
  /** Handles error replies of the topology (MOVED, READONLY). @returns whether it handled the part */
  refused(node: StoreNode, error: ErrorReply, part: Part): boolean;
  /** A connection was lost, or could not be opened. */
  lost(node: StoreNode): void;
}

/** Codes of a server that cannot count at present. The connection is closed and a new one is opened. */
const unusableCodes = new Set(["READONLY", "LOADING", "MASTERDOWN", "NOAUTH"]);

/**
 * One Redis server. Counts wait for a connection, and all waiting counts go out in one batch (group commit). If a
 * connection is free, a count only waits for the end of this turn of the event loop.
 */
export class StoreNode {
  readonly pool: ConnectionPool;
  readonly #deps: NodeDependencies;
  readonly #options: ResolvedOptions;
  readonly #waiting = new Queue();
  readonly #fresh: FreshKey[] = [];
  #freshBytes = 0;
  readonly #batches = new Map<Connection, Batch>();
  readonly #context: BatchContext;
  #scheduled = false;
  #unusableCodes = false;
  /** Fires at the earliest deadline. */
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
      now: options.clock ?? (() => 0),
      refused: (error, part) => this.#refused(error, part),
      fresh: (key) => this.#setExpiryLater(key),
    };
    this.pool.fill();
  }

  /** Queues all counts of a ticket. @throws {StoreError} STORE_FULL if the queue is full */
  submit(ticket: Ticket): void {
    const { counts } = ticket;
    this.ensureRoom(counts.length);
    this.push(new Part(ticket, counts, SendMode.PLAIN));
  }

  /** Queues the groups of one script call. @throws {StoreError} STORE_FULL if the queue is full */
  submitStep(step: AcquireStep, ticket: Ticket): void {
    this.ensureRoom(step.groups.length);
    this.push(new Part(ticket, [], SendMode.PLAIN, step));
  }

  /** @throws {StoreError} STORE_FULL if the queue is full */
  ensureRoom(counts: number): void {
    if (this.#waiting.length + counts > this.#options.maxWaiting)
      throw new StoreError("STORE_FULL", `${this.#waiting.length} counts already wait for the store`);
    if (this.#waiting.bytes > MAX_WAITING_BYTES)
      throw new StoreError("STORE_FULL", `counts with ${this.#waiting.bytes} bytes of keys already wait`);
  }

  push(part: Part): void {
    if (this.#closed) {
      part.ticket.fail(new StoreError("STORE_UNAVAILABLE", "the store is closed"));
      return;
    }
    this.#waiting.push(part);
    this.#deadlineTimer.at(part.ticket.deadline);
    if (!this.#scheduled) {
      if (this.pool.hasFree) this.#schedule();
      else this.#wakeForWaiting();
    }
  }

  /** Passes all waiting parts to `to`: the node is about to close, or lost their slots. */
  drain(to: (part: Part) => void): void {
    for (const part of this.#waiting.take(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      if (part.ticket.done) continue;
      try {
        to(part);
      } catch (error) {
        part.ticket.fail(unavailable(error));
      }
    }
  }

  /** Whether no count waits and no batch is in progress. */
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
    this.#failOlder(Number.POSITIVE_INFINITY, new StoreError("STORE_UNAVAILABLE", "the store is closed"));
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    const { pipelineWindow } = this.#options;
    // Node's timers have no delays below a millisecond. The turn of the event loop is the window then.
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
      batch = new Batch(this.#context, connection.writer, (error) => this.#finished(connection, error));
      this.#batches.set(connection, batch);
    }
    const parts = this.#waiting.take(MAX_BATCH, MAX_BATCH_BYTES);
    const fresh = this.#fresh.splice(0, MAX_BATCH);
    for (const { stem } of fresh) this.#freshBytes -= stem.length;
    connection.writer.reset();
    try {
      const isEmpty = !batch.prepare(parts, fresh);
      const { tracing, spanName } = this.#options;
      if (tracing?.enabled)
        batch.trip = startTrip(tracing, spanName, parts, { "pipeline length": batch.commands });
      if (isEmpty) this.pool.release(connection, false, true);
      else connection.send(batch, "latin1");
    } catch (error) {
      // Nothing was sent, so no answer will arrive.
      batch.clear();
      for (const { ticket } of parts) ticket.fail(unavailable(error));
      this.pool.discard(connection);
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

  #refused(error: ErrorReply, part: Part): void {
    const { code } = error;
    const { ticket, mode } = part;
    if (unusableCodes.has(code)) this.#unusableCodes = true;
    const inTime = performance.now() - ticket.since < this.#options.timeout;
    if (inTime && ticket.redirections < MAX_REDIRECTIONS * ticket.parts) {
      ticket.redirections++;
      if (code === "NOSCRIPT") {
        this.push(part.again(mode | SendMode.WITH_TEXT));
        return;
      }
      if (this.#deps.refused(this, error, part)) return;
    }
    ticket.fail(new StoreError("STORE_UNAVAILABLE", `error reply of the store: ${error.message}`));
  }

  /** Handles a fresh key (evicted, or the server lost its data), or one whose EXPIRE was lost with a connection. */
  #setExpiryLater(key: FreshKey): void {
    if (this.#fresh.length >= this.#options.maxWaiting || this.#freshBytes > MAX_FRESH_BYTES) return;
    this.#freshBytes += key.stem.length;
    this.#fresh.push(key);
    this.#schedule();
  }

  #wakeForWaiting(): void {
    const first = this.#waiting.parts[0]?.ticket;
    if (first === undefined) return;
    const { onEmpty, onEmptyWait, timeout } = this.#options;
    const wait = onEmpty === "WAIT" ? timeout : Math.min(onEmptyWait, timeout);
    this.#deadlineTimer.at(Math.max(first.since + wait, this.#overflowAt));
  }

  /** Fails the expired tickets and sets the timer for the next deadline. */
  #onDeadline(now: number): void {
    let next = expireTickets(this.#waiting.parts, now);
    for (const [connection, batch] of this.#batches)
      if (!connection.closed) next = Math.min(next, expireTickets(batch.parts, now));
    this.#deadlineTimer.at(next, this.#waiting.length > MANY_WAITING ? MANY_WAITING_MS : 1);
    if (this.#waiting.length > 0 && !this.#scheduled) this.#onEmpty(now);
  }

  #onEmpty(now: number): void {
    const { onEmpty, onEmptyWait, timeout } = this.#options;
    const text = `no connection to the store was free within`;
    this.#failOlder(now - timeout, new StoreError("STORE_TIMEOUT", `${text} ${timeout} ms`));
    if (onEmpty === "ERROR")
      this.#failOlder(now - onEmptyWait, new StoreError("STORE_UNAVAILABLE", `${text} ${onEmptyWait} ms`));
    const first = this.#waiting.parts[0]?.ticket;
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

  /** Fails the tickets that have waited since a time or longer. */
  #failOlder(since: number, error: StoreError): void {
    this.#waiting.keepOpen((ticket) => {
      if (ticket.since <= since) ticket.fail(error);
    });
  }
}
