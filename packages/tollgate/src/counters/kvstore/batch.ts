import { type Count, MAX_COUNT, Outcome, StoreError } from "../store.ts";
import type { Exchange } from "../transport/link.ts";
import { type Ticket, unusableAnswer } from "../transport/ticket.ts";
import { AcquireCall } from "./acquire-call.ts";
import { AcquireStep } from "./acquire-step.ts";
import { type Item, Items, SendMode } from "./items.ts";
import { Kind, nextPosition, Op, startPositions } from "./op.ts";
import { OpWriter, type OpWriterContext } from "./op-writer.ts";
import { OpsByStem } from "./ops-by-stem.ts";
import { ErrorReply, type Reply } from "./resp/reader.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { Reused } from "./reused.ts";
import { SettleCall } from "./settle-call.ts";
import { hashOf } from "./stems.ts";

/** A key that needs an EXPIRE without a count. */
export interface FreshKey {
  readonly stem: string;
  readonly windowStart: number;
  readonly windowSize: number;
}

/** Dependencies of a batch. */
export interface BatchContext extends OpWriterContext {
  /** Handles an item with an error reply: sends it again, or fails its ticket. */
  refused(error: ErrorReply, item: Item, ticket: Ticket, mode: number): void;
  /** Handles a key that is fresh although this process had set its expiry, or whose EXPIRE may be lost. */
  fresh(key: FreshKey): void;
}

/**
 * The commands of one round trip of a connection. Hits of equal keys are added up: a thousand callers of one hot key
 * are one INCRBY, and each caller gets its own position. Each connection reuses its batch.
 */
export class Batch implements Exchange<Reply> {
  readonly items = new Items();
  readonly #context: BatchContext;
  readonly #opWriter: OpWriter;
  /** Has the written commands until the batch ends. */
  #writer: CommandWriter | undefined;
  readonly #ops: Op[] = [];
  #used = 0;
  /** Op of each item; -1 if the caller's deadline passed before the batch was sent. */
  #opOf = new Int32Array(256);
  /** Hits of each item. The callers may reuse their counts after their deadlines. */
  #hitsOf = new Float64Array(256);
  readonly #byStem = new OpsByStem();
  /** The last call of each slot of the script for limits, and of that for reservations. */
  readonly #lastAcquires = new Map<number, Op>();
  readonly #lastSettles = new Map<number, Op>();
  readonly #acquires = new Reused(() => new AcquireCall());
  readonly #settles = new Reused(() => new SettleCall());
  /** The op of the next reply, and whether the reply to its ASKING has arrived. */
  #cursor = 0;
  #asked = false;
  #onDone: (error: StoreError | undefined) => void = () => {};
  /** Number of sent commands, for tracing. */
  commands = 0;

  constructor(context: BatchContext) {
    this.#context = context;
    this.#opWriter = new OpWriter(context);
  }

  /**
   * Writes the commands of {@link items}, and of keys that need an expiry.
   * @returns false when there is nothing to send
   */
  prepare(
    writer: CommandWriter,
    fresh: FreshKey[],
    onDone: (error: StoreError | undefined) => void,
  ): boolean {
    this.#onDone = onDone;
    this.#writer = writer;
    this.#used = this.#cursor = this.commands = 0;
    this.#acquires.restart();
    this.#settles.restart();
    this.#asked = false;
    this.#byStem.clear();
    this.#lastAcquires.clear();
    this.#lastSettles.clear();
    const { items } = this;
    if (items.length > this.#opOf.length) {
      this.#opOf = new Int32Array(2 * items.length);
      this.#hitsOf = new Float64Array(2 * items.length);
    }
    for (let i = 0; i < items.length; i++) {
      const item = items.item(i);
      const ticket = items.ticket(i);
      this.#hitsOf[i] = item === null || item instanceof AcquireStep ? 0 : item.hits;
      this.#opOf[i] = ticket.done ? -1 : this.#assign(item, ticket, items.mode(i));
    }
    for (const key of fresh) {
      const op = this.#nextOp(Kind.EXPIRE, 0);
      op.stem = key.stem;
      op.hashOfStem = hashOf(key);
      op.windowStart = key.windowStart;
      op.windowSize = key.windowSize;
    }
    for (let i = 0; i < this.#used; i++) this.commands += this.#opWriter.write(writer, this.#ops[i]!);
    return this.#used > 0;
  }

  #nextOp(kind: number, mode: number): Op {
    let op = this.#ops[this.#used];
    if (op === undefined) {
      op = new Op();
      this.#ops.push(op);
    }
    this.#used++;
    op.kind = kind;
    op.mode = mode;
    op.total = 0;
    op.expires = false;
    op.expiryAcknowledged = false;
    op.reply = undefined;
    op.ticket = null;
    return op;
  }

  #assign(item: Item, ticket: Ticket, mode: number): number {
    if (item === null) {
      this.#nextOp(Kind.ATOMIC, mode).ticket = ticket;
      return this.#used - 1;
    }
    return item instanceof AcquireStep ? this.#assignStep(item, ticket, mode) : this.#assignCount(item, mode);
  }

  #assignStep(step: AcquireStep, ticket: Ticket, mode: number): number {
    const { settled } = step;
    const last = settled === undefined ? this.#lastAcquires : this.#lastSettles;
    const isAlone = (mode & (SendMode.ASKING | SendMode.ALONE)) !== 0;
    let op = isAlone ? undefined : last.get(step.slot);
    if (op === undefined || !addStep(op, step, ticket)) {
      op = this.#nextOp(settled === undefined ? Kind.ACQUIRE : Kind.SETTLE, mode);
      op.running = this.#used - 1;
      if (settled === undefined) op.acquire = this.#acquires.take();
      else op.settle = this.#settles.take();
      addStep(op, step, ticket);
      if (!isAlone) last.set(step.slot, op);
    }
    op.mode |= mode;
    return op.running;
  }

  #assignCount(count: Count, mode: number): number {
    const kind = count.hits > 0 ? Kind.ADD : count.hits < 0 ? Kind.REFUND : Kind.LOOK;
    const hits = Math.abs(count.hits);
    const hash = hashOf(count);
    const slot = this.#byStem.slotOf(count, this.#ops, hash);
    let op = this.#byStem.opAt(slot, this.#ops);
    if (
      op === undefined ||
      op.windowStart !== count.windowStart ||
      op.mode !== mode ||
      mode === SendMode.ASKING ||
      (kind !== op.kind && kind !== Kind.LOOK && op.kind !== Kind.LOOK) ||
      op.total + hits > MAX_COUNT
    ) {
      op = this.#nextOp(kind, mode);
      op.stem = count.stem;
      op.place = count.place;
      op.hashOfStem = hash;
      op.windowStart = count.windowStart;
      op.windowSize = count.windowSize;
      op.running = this.#used - 1;
      this.#byStem.set(slot, op.running);
    }
    if (op.kind === Kind.LOOK) op.kind = kind;
    op.total += hits;
    return op.running;
  }

  /** @returns whether this was the last reply */
  accept(reply: Reply): boolean {
    const op = this.#ops[this.#cursor]!;
    if ((op.mode & SendMode.ASKING) !== 0) {
      this.#asked = !this.#asked;
      if (this.#asked) return false;
    }
    if (op.reply === undefined) {
      op.reply = reply;
      if (op.expires) return false;
    } else {
      op.expiryAcknowledged = reply === 1;
    }
    return ++this.#cursor === this.#used;
  }

  finish(): void {
    this.#settle(undefined);
  }

  /** The connection failed. Answered counts succeed, the others fail. */
  broken(error: StoreError): void {
    this.#settle(error);
  }

  /** Fails the tickets whose deadline has passed. Their hits stay in the batch. */
  expireTickets(now: number): number {
    return this.items.expire(now);
  }

  #settle(error: StoreError | undefined): void {
    const context = this.#context;
    for (let i = 0; i < this.#used; i++) {
      const op = this.#ops[i]!;
      if (op.expires && !op.expiryAcknowledged) {
        context.expiries.delete(op.hash);
        // Without its expiry the key would stay in the store, unless another call counts it again.
        if (error !== undefined && !(op.reply instanceof ErrorReply)) context.fresh(this.#freshKeyOf(op));
      }
      if (op.kind === Kind.EXPIRE) {
        if (op.reply === 1) context.expiries.add(op.hash);
        else context.expiries.delete(op.hash);
      }
      if (op.kind === Kind.ATOMIC)
        try {
          this.#settleAtomic(op);
        } catch (cause) {
          op.ticket!.fail(unusableAnswer(cause));
        }
      if (op.kind >= Kind.ACQUIRE && op.reply !== undefined && !(op.reply instanceof ErrorReply))
        (op.acquire ?? op.settle!).settle(op.reply);
      if (op.kind <= Kind.REFUND && op.reply !== undefined && startPositions(op) && !op.expires)
        context.fresh(this.#freshKeyOf(op));
    }
    const { items } = this;
    for (let i = 0; i < items.length; i++) {
      if (this.#opOf[i] === -1) continue;
      try {
        this.#settleItem(i, error);
      } catch (cause) {
        // A fault in one caller's answer must not block the other callers.
        items.ticket(i).fail(unusableAnswer(cause));
      }
    }
    items.clear();
    // A later batch may be shorter: unused ops must not retain callers or their keys.
    this.#byStem.clear();
    for (let i = 0; i < this.#used; i++) this.#ops[i]!.release();
    this.#onDone(error);
  }

  /** The memory of a stem in its place may have another stem since one of its callers failed. */
  #freshKeyOf({ stem, place, keyStart, keyEnd, windowStart, windowSize }: Op): FreshKey {
    const text = place === undefined ? stem : this.#writer!.stemAt(keyStart, keyEnd, windowStart);
    return { stem: text, windowStart, windowSize };
  }

  #settleItem(i: number, error: StoreError | undefined): void {
    const op = this.#ops[this.#opOf[i]!]!;
    const { reply } = op;
    // The call of the script has answered its callers.
    if (op.kind >= Kind.ACQUIRE && reply !== undefined && !(reply instanceof ErrorReply)) return;
    const { items } = this;
    const ticket = items.ticket(i);
    const item = items.item(i);
    if (reply === undefined) ticket.fail(error!);
    else if (reply instanceof ErrorReply) {
      if (!ticket.done) this.#context.refused(reply, item, ticket, items.mode(i));
    } else if (item !== null && !(item instanceof AcquireStep)) {
      // The hits of an expired caller are counted, and later callers follow them.
      const after = nextPosition(op, this.#hitsOf[i]!);
      if (ticket.done) return;
      item.outcome = Outcome.COUNTED;
      item.after = after;
      ticket.answered();
    }
  }

  #settleAtomic(op: Op): void {
    const ticket = op.ticket!;
    const { reply } = op;
    const { counts } = ticket;
    const isAnswer = Array.isArray(reply) && reply.length === counts.length * 2;
    for (let i = 0; i < counts.length; i++) {
      const hash = op.hashes[i];
      // The script sets the expiry of counted counters only.
      const counted = isAnswer && reply[2 * i] === Outcome.COUNTED;
      if (hash !== undefined && !counted) this.#context.expiries.delete(hash);
    }
    if (reply === undefined || reply instanceof ErrorReply) return;
    if (!isAnswer) {
      ticket.fail(
        new StoreError("STORE_UNAVAILABLE", "the reply of the counting script has an unexpected format"),
      );
      return;
    }
    if (!ticket.done)
      counts.forEach((count, i) => {
        count.outcome = Number(reply[2 * i]) as Outcome;
        count.after = Number(reply[2 * i + 1]);
      });
    ticket.answered();
  }
}

/** @returns false if the step needs another call */
function addStep(op: Op, step: AcquireStep, ticket: Ticket): boolean {
  return step.settled === undefined ? op.acquire!.add(step, ticket) : op.settle!.add(step.settled, ticket);
}
