import { areEqual, hashOf, type Stem } from "./stems.ts";

/** Four times the counts of a batch, and a power of 2. */
const SLOTS = 4096;
/** Callers can choose stems with equal hashes. Further ones get an op of their own for each count. */
const MAX_PROBES = 16;

/**
 * The newest op of each stem of a batch, or the counter of each stem of a script call. A batch clears and refills it, and a `Map` would allocate and rehash its table
 * each time: 7 % of a decision over Redis.
 */
export class OpsByStem<One extends Stem> {
  /** The number of an op, from 1; 0 for none. */
  readonly #slots = new Uint16Array(SLOTS);
  #ops: One[] = [];

  clear(): void {
    this.#slots.fill(0);
    this.#ops = [];
  }

  /** The slot of a stem: of its op, or a free one. -1 if all probed slots belong to other stems. */
  slotOf(stem: Stem, hash = hashOf(stem)): number {
    let slot = hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const op = this.opAt(slot);
      if (op === undefined || areEqual(op, stem)) return slot;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return -1;
  }

  /** The op in a slot, if there is one. */
  opAt(slot: number): One | undefined {
    const number = slot < 0 ? 0 : this.#slots[slot]!;
    return number === 0 ? undefined : this.#ops[number - 1];
  }

  set(slot: number, op: One): void {
    if (slot >= 0) this.#slots[slot] = this.#ops.push(op);
  }
}
