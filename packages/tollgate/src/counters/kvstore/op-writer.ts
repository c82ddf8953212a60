import type { KnownExpiries } from "./expiries.ts";
import { SendMode } from "./items.ts";
import { Kind, type Op } from "./op.ts";
import { type CommandWriter, commandHead } from "./resp/writer.ts";
import { countTogether, refund, type Script, scriptHead, TOGETHER_ARGS } from "./scripts.ts";

const incrby = commandHead(3, "INCRBY");
const expire = commandHead(3, "EXPIRE");
const get = commandHead(2, "GET");
const asking = commandHead(1, "ASKING");
const refundHead = scriptHead(refund, 1, 1, false);
const refundHeadWithText = scriptHead(refund, 1, 1, true);

/** Writes the commands of one connection. */
export class OpWriter {
  readonly #expiries: KnownExpiries;
  readonly #lifetime: (windowSize: number) => number;
  /** Scripts that this connection has already sent. */
  readonly #known = new Set<Script>();

  /** @param lifetime a key's time to live in seconds: its window and some jitter */
  constructor(expiries: KnownExpiries, lifetime: (windowSize: number) => number) {
    this.#expiries = expiries;
    this.#lifetime = lifetime;
  }

  /** @returns the number of written commands */
  write(writer: CommandWriter, op: Op): number {
    if ((op.mode & SendMode.ASKING) !== 0) writer.raw(asking);
    switch (op.kind) {
      case Kind.ADD: {
        writer.raw(incrby);
        writer.key(op.stem, op.windowStart);
        op.hash = writer.hash;
        writer.integer(op.total);
        const expiries = this.#expiries;
        if (expiries.has(op.hash)) return 1;
        // Marked now, so that concurrent batches do not also send it. The mark is removed if the EXPIRE is lost.
        expiries.add(op.hash);
        op.expires = true;
        if (op.mode === SendMode.ASKING) writer.raw(asking);
        writer.raw(expire);
        writer.sameKey();
        writer.integer(this.#lifetime(op.windowSize));
        return 2;
      }
      case Kind.LOOK:
        writer.raw(get);
        writer.key(op.stem, op.windowStart);
        return 1;
      case Kind.REFUND:
        writer.raw(this.#withText(refund, op) ? refundHeadWithText : refundHead);
        writer.key(op.stem, op.windowStart);
        writer.integer(op.total);
        return 1;
      case Kind.EXPIRE:
        writer.raw(expire);
        writer.key(op.stem, op.windowStart);
        op.hash = writer.hash;
        writer.integer(this.#lifetime(op.windowSize));
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

  #writeAtomic(writer: CommandWriter, op: Op): void {
    const { counts, holdBack } = op.ticket!;
    const args = TOGETHER_ARGS.first + counts.length * TOGETHER_ARGS.each;
    writer.raw(scriptHead(countTogether, counts.length, args, this.#withText(countTogether, op)));
    const expiries = this.#expiries;
    op.hashes = counts.map((count) => {
      writer.key(count.stem, count.windowStart);
      if (count.hits <= 0 || expiries.has(writer.hash)) return undefined;
      expiries.add(writer.hash);
      return writer.hash;
    });
    writer.integer(holdBack);
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!;
      const lifetime = this.#lifetime(count.windowSize);
      writer.integer(count.hits);
      writer.integer(count.limit);
      writer.integer(count.refuses);
      writer.integer(op.hashes[i] === undefined ? -lifetime : lifetime);
    }
  }
}
