import type { Expiries } from "./expiries.ts";
import { Way } from "./items.ts";
import { Kind, type Op } from "./op.ts";
import { type CommandWriter, commandHead } from "./resp/writer.ts";
import { allOrNothing, giveBack, type Script, scriptHead } from "./scripts.ts";

const incrby = commandHead(3, "INCRBY");
const expire = commandHead(3, "EXPIRE");
const get = commandHead(2, "GET");
const asking = commandHead(1, "ASKING");
const give = scriptHead(giveBack, 1, 1, false);
const giveWithText = scriptHead(giveBack, 1, 1, true);

/** Writes the commands of one connection. */
export class OpWriter {
  readonly #expiries: Expiries;
  readonly #lifetime: (windowSize: number) => number;
  /** Scripts that were sent on this connection. */
  readonly #known = new Set<Script>();

  /** @param lifetime seconds that a key lives: its window and some jitter */
  constructor(expiries: Expiries, lifetime: (windowSize: number) => number) {
    this.#expiries = expiries;
    this.#lifetime = lifetime;
  }

  /** @returns how many commands it took */
  write(writer: CommandWriter, op: Op): number {
    if ((op.way & Way.ASKING) !== 0) writer.raw(asking);
    switch (op.kind) {
      case Kind.ADD: {
        writer.raw(incrby);
        writer.key(op.stem, op.windowStart);
        op.hash = writer.hash;
        writer.integer(op.total);
        const expiries = this.#expiries;
        if (expiries.has(op.hash)) return 1;
        // Marked now, so that batches under way at the same time do not send it too; unmarked if it gets lost.
        expiries.add(op.hash);
        op.expires = true;
        if (op.way === Way.ASKING) writer.raw(asking);
        writer.raw(expire);
        writer.sameKey();
        writer.integer(this.#lifetime(op.windowSize));
        return 2;
      }
      case Kind.LOOK:
        writer.raw(get);
        writer.key(op.stem, op.windowStart);
        return 1;
      case Kind.GIVE:
        writer.raw(this.#withText(giveBack, op) ? giveWithText : give);
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
   * A connection's first call of a script carries its text, the others its digest. So the server knows it in time:
   * a call that has to be sent again would lose its place behind later counts of the same key.
   */
  #withText(script: Script, op: Op): boolean {
    if (this.#known.has(script) && (op.way & Way.WITH_TEXT) === 0) return false;
    this.#known.add(script);
    return true;
  }

  #writeAtomic(writer: CommandWriter, op: Op): void {
    const { counts } = op.ticket!;
    const withText = this.#withText(allOrNothing, op);
    writer.raw(scriptHead(allOrNothing, counts.length, counts.length * 3, withText));
    const expiries = this.#expiries;
    const known: boolean[] = [];
    op.hashes = [];
    for (const count of counts) {
      writer.key(count.stem, count.windowStart);
      known.push(count.hits <= 0 || expiries.has(writer.hash));
      if (known.at(-1)) continue;
      expiries.add(writer.hash);
      op.hashes.push(writer.hash);
    }
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i]!;
      const lifetime = this.#lifetime(count.windowSize);
      writer.integer(count.hits);
      writer.integer(count.limit);
      writer.integer(known[i] ? -lifetime : lifetime);
    }
  }
}
