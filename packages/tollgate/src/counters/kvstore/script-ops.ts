import { Outcome, StoreError } from "../store.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import { AcquireCall } from "./acquire-call.ts";
import { ACQUIRE_ARGS, acquireScript } from "./acquire-script.ts";
import type { AcquireStep } from "./acquire-step.ts";
import { askingOp } from "./expire-op.ts";
import type { Op, OpBatch } from "./op.ts";
import { type Part, SendMode } from "./part.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { Reused } from "./reused.ts";
import { countTogether, TOGETHER_ARGS } from "./scripts.ts";
import { SettleCall } from "./settle-call.ts";
import { settleScript } from "./settle-script.ts";
import { hashOf, hashOfKey } from "./stems.ts";

/** The calls of scripts in a batch. */
export class ScriptOps {
  /** The last call of each slot of the script for limits, and of that for reservations. */
  readonly #lastAcquires = new Map<number, StepOp>();
  readonly #lastSettles = new Map<number, StepOp>();
  readonly #acquires = new Reused(() => new AcquireCall());
  readonly #settles = new Reused(() => new SettleCall());

  clear(): void {
    this.#lastAcquires.clear();
    this.#lastSettles.clear();
    this.#acquires.restart();
    this.#settles.restart();
  }

  /** The op for a part: a new one, or one that other parts share. */
  opFor({ step, ticket, mode }: Part, batch: OpBatch): Op {
    if (step === undefined) return added(new AtomicOp(ticket, mode), mode, batch);
    const last = step.settled === undefined ? this.#lastAcquires : this.#lastSettles;
    const isAlone = (mode & (SendMode.ASKING | SendMode.ALONE)) !== 0;
    let op = isAlone ? undefined : last.get(step.slot);
    if (op === undefined || !op.take(step, ticket)) {
      op = new StepOp(step.settled === undefined ? this.#acquires.take() : this.#settles.take());
      added(op, mode, batch);
      op.take(step, ticket);
      if (!isAlone) last.set(step.slot, op);
    }
    op.mode |= mode;
    return op;
  }
}

function added<One extends Op>(op: One, mode: number, batch: OpBatch): One {
  if ((mode & SendMode.ASKING) !== 0) batch.plan(askingOp);
  batch.plan(op);
  return op;
}

/** A call of the script for limits, or of that for reservations. It answers its callers itself. */
class StepOp implements Op {
  readonly #call: AcquireCall | SettleCall;
  mode = 0;
  reply: Reply | undefined;

  constructor(call: AcquireCall | SettleCall) {
    this.#call = call;
  }

  /** @returns false if the step needs another call */
  take(step: AcquireStep, ticket: Ticket): boolean {
    const call = this.#call;
    return call instanceof AcquireCall ? call.add(step, ticket) : call.add(step.settled!, ticket);
  }

  write({ writer, scripts, context }: OpBatch): void {
    const call = this.#call;
    const [script, args] =
      call instanceof AcquireCall ? [acquireScript, ACQUIRE_ARGS] : [settleScript, call.args];
    writer.raw(scripts.head(script, call.keys, args, this.mode));
    call.write(writer, context.now(), context.lifetime(0));
  }

  end(): void {
    const { reply } = this;
    if (reply !== undefined && !(reply instanceof ErrorReply)) this.#call.settle(reply);
    this.#call.clear();
  }
}

/** Counts that may hold each other back. */
class AtomicOp implements Op {
  readonly #ticket: Ticket;
  readonly #mode: number;
  /** For each count, the hash of its key if the script sets its expiry. */
  #hashes: (number | undefined)[] = [];
  reply: Reply | undefined;

  constructor(ticket: Ticket, mode: number) {
    this.#ticket = ticket;
    this.#mode = mode;
  }

  write({ writer, scripts, context }: OpBatch): void {
    const { counts, holdBack } = this.#ticket;
    const { expiries } = context;
    const args = TOGETHER_ARGS.first + counts.length * TOGETHER_ARGS.each;
    writer.raw(scripts.head(countTogether, counts.length, args, this.#mode));
    this.#hashes = counts.map((count) => {
      writer.key(count.stem, count.windowStart, count.place);
      const hash = hashOfKey(hashOf(count), count.windowStart);
      return count.hits <= 0 || expiries.mark(hash) ? undefined : hash;
    });
    writer.integer(holdBack);
    for (const [index, count] of counts.entries()) {
      const lifetime = context.lifetime(count.windowSize);
      writer.integer(count.hits);
      writer.integer(count.limit);
      writer.integer(count.refuses);
      writer.integer(this.#hashes[index] === undefined ? -lifetime : lifetime);
    }
  }

  end({ context }: OpBatch): void {
    const { reply } = this;
    const ticket = this.#ticket;
    const isAnswer = Array.isArray(reply) && reply.length === this.#hashes.length * 2;
    for (const [index, hash] of this.#hashes.entries()) {
      // The script sets the expiry of counted counters only.
      const counted = isAnswer && reply[2 * index] === Outcome.COUNTED;
      if (hash !== undefined && !counted) context.expiries.delete(hash);
    }
    if (reply === undefined || reply instanceof ErrorReply) return;
    if (isAnswer) answer(ticket, reply);
    else
      ticket.fail(
        new StoreError("STORE_UNAVAILABLE", "the reply of the counting script has an unexpected format"),
      );
  }
}

function answer(ticket: Ticket, reply: readonly Reply[]): void {
  if (ticket.done) return;
  try {
    for (const [index, count] of ticket.counts.entries()) {
      count.outcome = Number(reply[2 * index]) as Outcome;
      count.after = Number(reply[2 * index + 1]);
    }
    ticket.answered();
  } catch (cause) {
    ticket.fail(unusableAnswer(cause));
  }
}
