import type { CallTrace } from "../../observe/tracing/tracing.ts";
import { type Count, type CountRequest, HoldBack, StoreError, type Waiter } from "../store.ts";

/**
 * A request in progress: the number of its open counts, and its waiter. When it is done (answered, failed or past its
 * deadline) nothing changes its counts afterwards: the caller may reuse them.
 */
export class Ticket {
  readonly counts: readonly Count[];
  readonly holdBack: HoldBack;
  /** Milliseconds of the monotonic clock; Infinity for none. */
  readonly deadline: number;
  /** Start of the wait, on the same clock. */
  readonly since: number;
  /** The recorded call of this request. */
  readonly trace: CallTrace | undefined;
  /** Parts with a result of their own: counts, or script calls. */
  parts: number;
  left: number;
  done = false;
  /** Number of times that one of its counts was sent again (MOVED, ASK, TRYAGAIN, NOSCRIPT). */
  redirections = 0;
  readonly #waiter: Waiter;

  constructor(
    counts: readonly Count[],
    holdBack: HoldBack,
    deadline: number,
    since: number,
    trace: CallTrace | undefined,
    waiter: Waiter,
  ) {
    this.counts = counts;
    this.holdBack = holdBack;
    this.deadline = deadline;
    this.since = since;
    this.trace = trace;
    this.parts = counts.length;
    this.left = this.atomic ? 1 : counts.length;
    this.#waiter = waiter;
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
    this.#waiter.answered();
  }

  /** The waiter gets the error after the present callback: tickets often fail within a walk over the queues. */
  fail(error: StoreError): void {
    if (this.done) return;
    this.done = true;
    queueMicrotask(() => this.#waiter.failed(error));
  }
}

/** A request with its instant and its deadline. */
export type Timed = Pick<CountRequest, "now" | "deadline">;

/** A ticket that begins to wait. @throws {StoreError} if the caller's deadline has passed */
export function ticketOf(
  { now, deadline }: Timed,
  counts: readonly Count[],
  holdBack: HoldBack,
  trace: CallTrace | undefined,
  waiter: Waiter,
): Ticket {
  // As long on the caller's clock as on ours.
  const patience = deadline === 0 ? Number.POSITIVE_INFINITY : deadline - now;
  if (patience <= 0)
    throw new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the count");
  const since = performance.now();
  return new Ticket(counts, holdBack, since + patience, since, trace, waiter);
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
export function expireTickets(all: readonly { readonly ticket: Ticket }[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { ticket } of all) {
    if (ticket.done) continue;
    if (ticket.deadline > now) next = Math.min(next, ticket.deadline);
    else
      ticket.fail(
        new StoreError("DEADLINE_EXCEEDED", "the caller's deadline passed before the store answered"),
      );
  }
  return next;
}
