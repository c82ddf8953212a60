import { ACQUIRE_ARGS, acquireScript } from "./acquire-script.ts";
import type { KnownExpiries } from "./expiries.ts";
import { SendMode } from "./items.ts";
import { Kind, type Op } from "./op.ts";
import { type CommandWriter, commandHead } from "./resp/writer.ts";
import { countTogether, refund, type Script, scriptHead, TOGETHER_ARGS } from "./scripts.ts";
import { settleScript } from "./settle-script.ts";
import { hashOf, hashOfKey } from "./stems.ts";

const incrby = commandHead(3, "INCRBY");
const expire = commandHead(3, "EXPIRE");
const get = commandHead(2, "GET");
const asking = commandHead(1, "ASKING");
const refundHead = scriptHead(refund, 1, 1, false);
const refundHeadWithText = scriptHead(refund, 1, 1, true);

/** Dependencies of an op writer. */
export interface OpWriterContext {
  readonly expiries: KnownExpiries;
  /** A key's time to live in seconds: its window and some jitter. */
  lifetime(windowSize: number): number;
  /** Microseconds since the epoch for script calls; 0 for the server's clock. */
  now(): number;
}

/** Writes the commands of one connection. */
export class OpWriter {
  readonly #context: OpWriterContext;
  /** Scripts that this connection has already sent. */
  readonly #known = new Set<Script>();

  constructor(context: OpWriterContext) {
    this.#context = context;
  }

  /** @returns the number of written commands */
  write(writer: CommandWriter, op: Op): number {
    if ((op.mode & SendMode.ASKING) !== 0) writer.raw(asking);
    switch (op.kind) {
      case Kind.ADD: {
        writer.raw(incrby);
        writeKey(writer, op);
        op.hash = hashOfKey(op.hashOfStem, op.windowStart);
        writer.integer(op.total);
        const expiries = this.#context.expiries;
        if (expiries.has(op.hash)) return 1;
        // Marked now, so that concurrent batches do not also send it. The mark is removed if the EXPIRE is lost.
        expiries.add(op.hash);
        op.expires = true;
        if (op.mode === SendMode.ASKING) writer.raw(asking);
        writer.raw(expire);
        writer.key(op.stem, op.windowStart, op.place);
        writer.integer(this.#context.lifetime(op.windowSize));
        return 2;
      }
      case Kind.LOOK:
        writer.raw(get);
        writeKey(writer, op);
        return 1;
      case Kind.REFUND:
        writer.raw(this.#withText(refund, op) ? refundHeadWithText : refundHead);
        writeKey(writer, op);
        writer.integer(op.total);
        return 1;
      case Kind.EXPIRE:
        writer.raw(expire);
        writer.key(op.stem, op.windowStart, op.place);
        op.hash = hashOfKey(op.hashOfStem, op.windowStart);
        writer.integer(this.#context.lifetime(op.windowSize));
        return 1;
      case Kind.ACQUIRE:
        this.#writeAcquire(writer, op);
        return 1;
      case Kind.SETTLE:
        this.#writeSettle(writer, op);
        return 1;
      default:
        this.#writeAtomic(writer, op);
        return 1;
    }
  }

  /**
   * A connection's first call of a script carries its text, later calls its digest. So the server knows the script in
   * time: a call that is sent again would come after later counts of the same key.
   */
  #withText(script: Script, op: Op): boolean {
    if (this.#known.has(script) && (op.mode & SendMode.WITH_TEXT) === 0) return false;
    this.#known.add(script);
    return true;
  }

  #writeAcquire(writer: CommandWriter, op: Op): void {
    const call = op.acquire!;
    writer.raw(scriptHead(acquireScript, call.keys, ACQUIRE_ARGS, this.#withText(acquireScript, op)));
    call.write(writer, this.#context.now(), this.#context.lifetime(0));
  }

  #writeSettle(writer: CommandWriter, op: Op): void {
    const call = op.settle!;
    writer.raw(scriptHead(settleScript, call.keys, call.args, this.#withText(settleScript, op)));
    call.write(writer, this.#context.now(), this.#context.lifetime(0));
  }

  #writeAtomic(writer: CommandWriter, op: Op): void {
    const { counts, holdBack } = op.ticket!;
    const args = TOGETHER_ARGS.first + counts.length * TOGETHER_ARGS.each;
    writer.raw(scriptHead(countTogether, counts.length, args, this.#withText(countTogether, op)));
    const expiries = this.#context.expiries;
    op.hashes = counts.map((count) => {
      writer.key(count.stem, count.windowStart, count.place);
      const hash = hashOfKey(hashOf(count), count.windowStart);
      if (count.hits <= 0 || expiries.has(hash)) return undefined;
      expiries.add(hash);
      return hash;
    });
    writer.integer(holdBack);
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!;
      const lifetime = this.#context.lifetime(count.windowSize);
      writer.integer(count.hits);
      writer.integer(count.limit);
      writer.integer(count.refuses);
      writer.integer(op.hashes[i] === undefined ? -lifetime : lifetime);
    }
  }
}

/** Writes the key of an op, and keeps where it is: {@link CommandWriter.stemAt}. */
function writeKey(writer: CommandWriter, op: Op): void {
  op.keyStart = writer.length;
  writer.key(op.stem, op.windowStart, op.place);
  op.keyEnd = writer.length;
}
