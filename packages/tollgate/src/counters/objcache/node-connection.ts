import type { TraceSpan, Tracing } from "../../observe/tracing/tracing.ts";
import { StoreError } from "../store.ts";
import { openSocket, reconnectDelay } from "../transport/connect.ts";
import { DeadlineTimer } from "../transport/deadline-timer.ts";
import type { Endpoint } from "../transport/endpoint.ts";
import { Link } from "../transport/link.ts";
import { expireTickets, type Ticket, unavailable } from "../transport/ticket.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import { startTrip } from "../transport/trip.ts";
import type { ObjcacheGauges } from "./objcache-options.ts";
import { TextReader, type TextReply } from "./reply.ts";
import { addHits, type Increment, type Member, RoundTrip, type RoundTripContext } from "./round-trip.ts";

export interface NodeConnectionDependencies {
  readonly tls: ClientTlsOptions | undefined;
  readonly timeout: number;
  readonly maxWaiting: number;
  readonly gauges: ObjcacheGauges;
  readonly tracing: Tracing | undefined;
  readonly spanName: string;
  expiry(windowSize: number): number;
  looked(ticket: Ticket): void;
}

/** Maximum counts in one batch. The others wait for the next batch. */
const MAX_BATCH = 1024;

/**
 * One connection to one node. A key always uses the same connection, so its reads and increments stay in order. This
 * makes its counter exact within the process.
 */
export class NodeConnection {
  readonly #endpoint: Endpoint;
  readonly #deps: NodeConnectionDependencies;
  readonly #increments = new Map<string, Increment>();
  readonly #context: RoundTripContext;
  readonly #deadlineTimer = new DeadlineTimer((now) => this.#onDeadline(now));
  #waiting: Member[] = [];
  #underWay: readonly Member[] = [];
  #link: Link<TextReply> | undefined;
  #connecting = false;
  #failures = 0;
  #lastError: StoreError | undefined;
  /** Earliest time of the next attempt to connect, on the monotonic clock. */
  #retryAt = 0;
  #scheduled = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(endpoint: Endpoint, deps: NodeConnectionDependencies) {
    this.#endpoint = endpoint;
    this.#deps = deps;
    this.#context = {
      increments: this.#increments,
      gauges: deps.gauges,
      maxIncrements: deps.maxWaiting,
      expiry: deps.expiry,
      looked: deps.looked,
      lost: ({ hits }) => {
        deps.gauges.incrementsLost += Math.abs(hits);
      },
    };
  }

  /** Whether no count or increment waits, and no batch is in progress. */
  get idle(): boolean {
    return this.#waiting.length === 0 && this.#increments.size === 0 && this.#link?.busy !== true;
  }

  /** @throws {StoreError} STORE_FULL if too many counts wait, STORE_UNAVAILABLE if the last attempt to connect just failed */
  ensureRoom(): void {
    if (this.#waiting.length >= this.#deps.maxWaiting)
      throw new StoreError("STORE_FULL", `${this.#waiting.length} counts already wait for a node`);
    if (this.#link === undefined && !this.#connecting && performance.now() < this.#retryAt)
      throw this.#lastError!;
  }

  push(member: Member): void {
    this.#waiting.push(member);
    this.#deadlineTimer.at(member.ticket.deadline);
    this.#schedule();
  }

  /** Adds hits of a call that is already answered. */
  add(key: string, hits: number, windowSize: number): void {
    if (this.#increments.size >= this.#deps.maxWaiting && !this.#increments.has(key)) {
      this.#deps.gauges.incrementsLost += Math.abs(hits);
      return;
    }
    addHits(this.#increments, key, hits, windowSize, false);
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#deadlineTimer.clear();
    clearTimeout(this.#retry);
    this.#failWaiting(new StoreError("STORE_UNAVAILABLE", "the store is closed"));
    this.#link?.destroy();
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#closed || this.#connecting || this.#link?.busy === true) return;
    if (this.#waiting.length === 0 && this.#increments.size === 0) return;
    if (this.#link === undefined) this.#connect();
    else this.#send(this.#link);
  }

  #send(link: Link<TextReply>): void {
    const members = this.#waiting.splice(0, MAX_BATCH).filter(({ ticket }) => !ticket.done);
    const increments: [string, Increment][] = [];
    for (const entry of this.#increments) {
      this.#increments.delete(entry[0]);
      if (entry[1].hits !== 0 && increments.push(entry) === MAX_BATCH) break;
    }
    if (members.length + increments.length === 0) {
      if (this.#waiting.length > 0) this.#schedule();
      return;
    }
    try {
      this.#exchange(link, members, increments);
    } catch (error) {
      // Nothing was sent, so no answer will arrive.
      for (const { ticket } of members) ticket.fail(unavailable(error));
      for (const [, increment] of increments) this.#context.lost(increment);
      this.#underWay = [];
      link.destroy();
    }
  }

  #exchange(link: Link<TextReply>, members: readonly Member[], increments: [string, Increment][]): void {
    let trip: TraceSpan | undefined;
    const batch = new RoundTrip(this.#context, members, increments, (error) => {
      this.#underWay = [];
      if (error === undefined) this.#failures = 0;
      this.#schedule();
      trip?.end(error?.message);
    });
    this.#underWay = members;
    const { tracing } = this.#deps;
    if (tracing?.enabled)
      trip = startTrip(tracing, this.#deps.spanName, members, { "keysToGet length": members.length });
    link.write(Buffer.from(batch.text), batch);
  }

  #connect(): void {
    const wait = this.#retryAt - performance.now();
    if (wait > 0) {
      // Waiting counts fail. Increments of answered calls are kept.
      this.#failWaiting(this.#lastError!);
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#schedule(), wait);
      this.#retry.unref();
      return;
    }
    this.#connecting = true;
    const { tls, timeout, gauges } = this.#deps;
    openSocket(this.#endpoint, tls, timeout).then(
      (socket) => {
        this.#connecting = false;
        const link = new Link<TextReply>(socket, this.#endpoint, timeout, (accept) => new TextReader(accept));
        gauges.cxActive++;
        gauges.cxTotal++;
        this.#link = link;
        link.onClose(() => {
          gauges.cxActive--;
          this.#link = undefined;
          this.#failed(new StoreError("STORE_UNAVAILABLE", "the connection to a node was lost"));
          this.#schedule();
        });
        if (this.#closed) link.destroy();
        else this.#flush();
      },
      (cause: Error) => {
        this.#connecting = false;
        const error = new StoreError("STORE_UNAVAILABLE", cause.message, { cause });
        this.#failed(error);
        this.#failWaiting(error);
        this.#schedule();
      },
    );
  }

  #failed(error: StoreError): void {
    this.#lastError = error;
    this.#failures++;
    // After the first failure the next attempt starts at once.
    this.#retryAt = this.#failures === 1 ? 0 : performance.now() + reconnectDelay(this.#failures - 1);
  }

  #failWaiting(error: StoreError): void {
    for (const { ticket } of this.#waiting) ticket.fail(error);
    this.#waiting = [];
  }

  #onDeadline(now: number): void {
    this.#deadlineTimer.at(expireTickets([...this.#waiting, ...this.#underWay], now));
    this.#waiting = this.#waiting.filter(({ ticket }) => !ticket.done);
  }
}
