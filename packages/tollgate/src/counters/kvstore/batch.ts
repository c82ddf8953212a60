import type { TraceSpan } from "../../observe/tracing/tracing.ts";
import { type Count, Outcome, type StoreError } from "../store.ts";
import type { Exchange } from "../transport/link.ts";
import { unusableAnswer } from "../transport/ticket.ts";
import { CountOp } from "./count-op.ts";
import { askingOp, ExpireOp } from "./expire-op.ts";
import { KnownScripts } from "./known-scripts.ts";
import type { BatchContext, FreshKey, Op, OpBatch } from "./op.ts";
import { OpsByStem } from "./ops-by-stem.ts";
import { Part, SendMode } from "./part.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import type { CommandWriter } from "./resp/writer.ts";
import { ScriptOps } from "./script-ops.ts";
import { hashOf, hashOfKey } from "./stems.ts";

/**
 * The commands of one round trip of a connection. Hits of equal keys are added up: a thousand callers of one hot key
 * are one INCRBY, and each caller gets its own position. Each connection reuses its batch.
 */
export class Batch implements Exchange<Reply>, OpBatch {
  readonly context: BatchContext;
  readonly writer: CommandWriter;
  readonly scripts = new KnownScripts();
  parts: readonly Part[] = [];
  /** Its span, if there is one. */
  trip: TraceSpan | undefined;
  /** In the order of their replies. Before they are written, those of the parts alone. */
  #ops: Op[] = [];
  /** The op of each result, and the sum of the op's hits up to it. */
  #opOf: Op[] = [];
  #sumOf: number[] = [];
  readonly #byStem = new OpsByStem<CountOp>();
  /** Made for the first call of a script. */
  #scriptOps: ScriptOps | undefined;
  /** The op of the next reply. */
  #cursor = 0;
  readonly #onDone: (error: StoreError | undefined) => void;

  constructor(context: BatchContext, writer: CommandWriter, onDone: (error: StoreError | undefined) => void) {
    this.context = context;
    this.writer = writer;
    this.#onDone = onDone;
  }

  /** The number of commands, for tracing. */
  get commands(): number {
    return this.#ops.length;
  }

  /**
   * Writes the commands of parts, and of keys that need an expiry.
   * @returns false when there is nothing to send
   */
  prepare(parts: readonly Part[], fresh: readonly FreshKey[]): boolean {
    this.parts = parts;
    for (const part of parts) if (!part.ticket.done) this.#assign(part);
    for (const key of fresh) this.plan(new ExpireOp(key, hashOfKey(hashOf(key), key.windowStart)));
    const planned = this.#ops;
    this.#ops = [];
    for (let i = 0; i < planned.length; i++) this.send(planned[i]!);
    if (planned.length === 0) this.clear();
    return planned.length > 0;
  }

  plan(op: Op): void {
    this.#ops.push(op);
  }

  send(op: Op): void {
    this.#ops.push(op);
    op.write(this);
  }

  #assign(part: Part): void {
    const { counts, mode } = part;
    part.first = this.#opOf.length;
    if (part.isScript) {
      this.#scriptOps ??= new ScriptOps();
      this.#opOf.push(this.#scriptOps.opFor(part, this));
      this.#sumOf.push(0);
    } else
      for (let i = 0; i < counts.length; i++) {
        const op = this.#countOp(counts[i]!, mode);
        this.#opOf.push(op);
        this.#sumOf.push(op.take(counts[i]!.hits));
      }
  }

  #countOp(count: Count, mode: number): CountOp {
    const hash = hashOf(count);
    const slot = this.#byStem.slotOf(count, hash);
    const known = this.#byStem.opAt(slot);
    if (known?.takes(count, mode)) return known;
    const op = new CountOp(count, hash, mode);
    this.#byStem.set(slot, op);
    if ((mode & SendMode.ASKING) !== 0) this.plan(askingOp);
    this.plan(op);
    return op;
  }

  /** @returns whether this was the last reply */
  accept(reply: Reply): boolean {
    this.#ops[this.#cursor]!.reply = reply;
    return ++this.#cursor === this.#ops.length;
  }

  finish(): void {
    this.#settle(undefined);
  }

  /** The connection failed. Answered counts succeed, the others fail. */
  broken(error: StoreError): void {
    this.#settle(error);
  }

  /** Forgets the callers and their keys. */
  clear(): void {
    this.parts = [];
    this.#ops = [];
    this.#opOf = [];
    this.#sumOf = [];
    this.#cursor = 0;
    this.#byStem.clear();
    this.#scriptOps?.clear();
  }

  #settle(error: StoreError | undefined): void {
    for (const op of this.#ops) op.end(this, error);
    for (const part of this.parts)
      try {
        this.#answer(part, error);
      } catch (cause) {
        // A fault in one caller's answer must not block the other callers.
        part.ticket.fail(unusableAnswer(cause));
      }
    this.trip?.end(error?.message);
    this.clear();
    this.#onDone(error);
  }

  #answer(part: Part, error: StoreError | undefined): void {
    const { ticket, counts, isScript, mode } = part;
    for (let i = 0; i < part.length; i++) {
      if (ticket.done) return;
      const op = this.#opOf[part.first + i]!;
      if (op.reply === undefined) ticket.fail(error!);
      else if (op.reply instanceof ErrorReply)
        this.context.refused(op.reply, part.length === 1 ? part : new Part(ticket, [counts[i]!], mode));
      else if (!isScript) {
        const count = counts[i]!;
        count.outcome = Outcome.COUNTED;
        count.after = (op as CountOp).after(this.#sumOf[part.first + i]!);
        ticket.answered();
      }
    }
  }
}
