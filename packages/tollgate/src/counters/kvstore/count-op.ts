import { type Count, MAX_COUNT, type StemPlace } from "../store.ts";
import { counterBefore } from "./counter-reply.ts";
import { askingOp, ExpireOp } from "./expire-op.ts";
import type { FreshKey, Op, OpBatch } from "./op.ts";
import { SendMode } from "./part.ts";
import type { Reply } from "./resp/reply.ts";
import { commandHead } from "./resp/writer.ts";
import { refund } from "./scripts.ts";
import { hashOfKey } from "./stems.ts";

const incrby = commandHead(3, "INCRBY");
const get = commandHead(2, "GET");

/** The hits of equal keys in a batch, with one sign, as one command. A look joins either of them. */
export class CountOp implements Op {
  readonly stem: string;
  readonly place: StemPlace | undefined;
  /** The hash of its key. */
  readonly #hash: number;
  readonly windowStart: number;
  readonly windowSize: number;
  readonly #mode: number;
  /** The sum of the hits. */
  #total = 0;
  /** In the end, the counter before the first count, or an error. */
  reply: Reply | undefined;
  /** The position of its key in the writer. */
  #keyAt = 0;
  /** Whether the batch also sends EXPIRE. */
  #expires = false;

  constructor({ stem, place, windowStart, windowSize }: Count, hashOfStem: number, mode: number) {
    this.stem = stem;
    this.place = place;
    this.#hash = hashOfKey(hashOfStem, windowStart);
    this.windowStart = windowStart;
    this.windowSize = windowSize;
    this.#mode = mode;
  }

  /** Whether it can take a count of its stem. */
  takes({ windowStart, hits }: Count, mode: number): boolean {
    const total = this.#total;
    return (
      windowStart === this.windowStart &&
      mode === this.#mode &&
      mode !== SendMode.ASKING &&
      hits * total >= 0 &&
      Math.abs(total + hits) <= MAX_COUNT
    );
  }

  /** Takes a count. @returns the sum of the hits so far: see {@link after} */
  take(hits: number): number {
    this.#total += hits;
    return this.#total;
  }

  /** The counter after the counts whose hits have this sum. */
  after(sum: number): number {
    return Math.max(0, Math.min((this.reply as number) + sum, MAX_COUNT));
  }

  write(batch: OpBatch): void {
    const { writer } = batch;
    const total = this.#total;
    if (total > 0) writer.raw(incrby);
    else writer.raw(total === 0 ? get : batch.scripts.head(refund, 1, 1, this.#mode));
    this.#keyAt = writer.length;
    writer.key(this.stem, this.windowStart, this.place);
    if (total === 0) return;
    writer.integer(Math.abs(total));
    if (total > 0) this.#setExpiry(batch);
  }

  #setExpiry(batch: OpBatch): void {
    // Marked now, so that concurrent batches do not also send it. The mark is removed if the EXPIRE is lost.
    if (batch.context.expiries.mark(this.#hash)) return;
    this.#expires = true;
    if (this.#mode === SendMode.ASKING) batch.send(askingOp);
    batch.send(new ExpireOp(this, this.#hash, this));
  }

  end(batch: OpBatch): void {
    const { reply } = this;
    const added = Math.max(0, this.#total);
    if (reply !== undefined)
      this.reply = typeof reply === "number" ? reply - added : counterBefore(reply, added);
    if (added === 0 || this.#expires) return;
    // Without a reply the key may be fresh, too.
    if (this.reply === undefined || this.reply === 0) batch.context.expiries.delete(this.#hash);
    if (this.reply === 0) batch.context.fresh(this.freshKey(batch));
  }

  /** The memory of a stem in its place may have another stem since one of its callers failed. */
  freshKey({ writer }: OpBatch): FreshKey {
    const { stem, place, windowStart, windowSize } = this;
    const text = place === undefined ? stem : writer.stemAt(this.#keyAt, windowStart);
    return { stem: text, windowStart, windowSize };
  }
}
