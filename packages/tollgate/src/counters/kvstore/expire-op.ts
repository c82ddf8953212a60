import type { StoreError } from "../store.ts";
import type { FreshKey, Op, OpBatch } from "./op.ts";
import { ErrorReply, type Reply } from "./resp/reply.ts";
import { commandHead } from "./resp/writer.ts";
import type { Stem } from "./stems.ts";

const expire = commandHead(3, "EXPIRE");
const asking = commandHead(1, "ASKING");

/** The op of a key whose expiry this batch also sets. */
interface CountedKey extends Op {
  freshKey(batch: OpBatch): FreshKey;
}

/** Sets the expiry of a key. */
export class ExpireOp implements Op {
  readonly #key: Stem & Omit<FreshKey, "stem">;
  readonly #hash: number;
  readonly #count: CountedKey | undefined;
  reply: Reply | undefined;

  /**
   * @param hash the hash of the key
   * @param count the op of the same batch that counts the key, and has marked it
   */
  constructor(key: Stem & Omit<FreshKey, "stem">, hash: number, count?: CountedKey) {
    this.#key = key;
    this.#hash = hash;
    this.#count = count;
  }

  write({ writer, context }: OpBatch): void {
    const { stem, windowStart, windowSize, place } = this.#key;
    writer.raw(expire);
    writer.key(stem, windowStart, place);
    writer.integer(context.lifetime(windowSize));
    if (this.#count === undefined) context.expiries.mark(this.#hash);
  }

  end(batch: OpBatch, error: StoreError | undefined): void {
    if (this.reply === 1) return;
    batch.context.expiries.delete(this.#hash);
    const count = this.#count;
    // Without its expiry the key would stay in the store, unless another call counts it again.
    if (error !== undefined && count !== undefined && !(count.reply instanceof ErrorReply))
      batch.context.fresh(count.freshKey(batch));
  }
}

/** Precedes a command for a key whose slot is migrating. */
export const askingOp: Op = { reply: undefined, write: ({ writer }) => writer.raw(asking), end() {} };
