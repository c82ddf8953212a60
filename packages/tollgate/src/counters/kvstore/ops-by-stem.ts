import { areEqual, hashOf, type Stem } from "./stems.ts";

/** Four times the counts of a batch, and a power of 2. */
const SLOTS = 4096;
/** Callers can choose stems with equal hashes. Further ones get an op of their own for each count. */
const MAX_PROBES = 16;

/**
 * The newest op of each stem of a batch. A batch clears and refills it, and a `Map` would allocate and rehash its table
 * each time: 7 % of a decision over Redis.
 */
export class OpsByStem {
  readonly #slots = new Int16Array(SLOTS);
  #used: number[] = [];

  clear(): void {
    for (const slot of this.#used) this.#slots[slot] = 0;
    this.#used.length = 0;
  }

  /** The slot of a stem: of its op, or a free one. -1 if all probed slots belong to other stems. */
  slotOf(stem: Stem, ops: readonly Stem[], hash = hashOf(stem)): number {
    const slots = this.#slots;
    let slot = hash & (SLOTS - 1);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const number = slots[slot]!;
      if (number === 0 || areEqual(ops[number - 1]!, stem)) return slot;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return -1;
  }

  /** The op in a slot, if there is one. */
  opAt<Op extends Stem>(slot: number, ops: readonly Op[]): Op | undefined {
    const number = slot < 0 ? 0 : this.#slots[slot]!;
    return number === 0 ? undefined : ops[number - 1];
  }

  /** @param op index of the op */
  set(slot: number, op: number): void {
    if (slot < 0) return;
    if (this.#slots[slot] === 0) this.#used.push(slot);
    this.#slots[slot] = op + 1;
  }
}
