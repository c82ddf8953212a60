import type { CallTrace, TraceAttributes, TraceSpan, Tracing } from "../../observe/tracing/tracing.ts";
import { type Count, HoldBack, StoreError, type Waiter } from "../store.ts";

/** The most tickets that a list keeps for further requests. */
const MAX_FREE = 1024;

/**
 * A request in progress: the number of its open counts, and its waiter. When it is done (answered, failed or past its
 * deadline) nothing changes its counts afterwards: the caller may reuse them.
 */
export class Ticket {
  counts: readonly Count[] = [];
  holdBack: HoldBack = HoldBack.NEVER;
  /** Milliseconds of the monotonic clock; Infinity for none. */
  deadline = 0;
  /** Start of the wait, on the same clock. */
  since = 0;
  /** The recorded call of this request. */
  trace: CallTrace | undefined;
  /** Parts with a result of their own: counts, or script calls. */
  parts = 0;
  left = 0;
  done = false;
  /** Number of times that one of its counts was sent again (MOVED, ASK, TRYAGAIN, NOSCRIPT). */
  redirections = 0;
  #waiter: Waiter | undefined;
  readonly #free: Ticket[] | undefined;

  /** @param free gets the ticket when it is answered, for {@link begin}. A failed one may still be in a queue. */
  constructor(free?: Ticket[]) {
    this.#free = free;
  }

  begin(
    counts: readonly Count[],
    holdBack: HoldBack,
    deadline: number,
    since: number,
    trace: CallTrace | undefined,
    waiter: Waiter,
  ): this {
    this.counts = counts;
    this.holdBack = holdBack;
    this.deadline = deadline;
    this.since = since;
    this.trace = trace;
    this.parts = counts.length;
    this.left = this.atomic ? 1 : counts.length;
    this.done = false;
    this.redirections = 0;
    this.#waiter = waiter;
    return this;
  }

  /** Whether its counts may hold each other back: then one atomic step counts all of them. */
  get atomic(): boolean {
    return this.holdBack !== HoldBack.NEVER;
  }

  /** Sets the number of results to wait for. */
  expect(parts: number): void {
    this.parts = parts;
    this.left = parts;
  }

  /** One of its counts has its result. An atomic ticket has all of them. */
  answered(): void {
    if (--this.left > 0 || this.done) return;
    this.done = true;
    this.#waiter!.answered();
    if (this.#free === undefined || this.#free.length >= MAX_FREE) return;
    this.#waiter = undefined;
    this.#free.push(this);
  }

  /** The waiter gets the error after the present callback: tickets often fail within a walk over the queues. */
  fail(error: StoreError): void {
    if (this.done) return;
    this.done = true;
    queueMicrotask(() => this.#waiter!.failed(error));
  }
}

export function unavailable(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreError("STORE_UNAVAILABLE", message, { cause });
}

/** The error for an answer of the store that could not be processed. */
export function unusableAnswer(cause: unknown): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreError("STORE_UNAVAILABLE", `cannot use an answer of the store: ${message}`, {
    cause,
  });
}

/** Fails the tickets whose deadline has passed. @returns the earliest deadline of the others */
export function expireTickets(tickets: readonly Ticket[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const ticket of tickets) next = Math.min(next, expireTicket(ticket, now));
  return next;
}

/** Fails a ticket whose deadline has passed. @returns the deadline of an open one; Infinity for others */
export function expireTicket(ticket: Ticket, now: number): number {
  if (ticket.done) return Number.POSITIVE_INFINITY;
  if (ticket.deadline > now) return ticket.deadline;
  ticket.fail(new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the store answered"));
  return Number.POSITIVE_INFINITY;
}

/** Starts a span for one round trip, linked to its recorded calls. Without recorded calls there is no span. */
export function startTrip(
  tracing: Tracing | undefined,
  name: string,
  tickets: readonly Ticket[],
  attributes: TraceAttributes,
): TraceSpan | undefined {
  if (tracing === undefined || !tracing.enabled) return undefined;
  const calls = new Set<CallTrace>();
  for (const { trace, done } of tickets) if (trace !== undefined && !done) calls.add(trace);
  return tracing.startRoundTrip(name, [...calls], attributes);
}
