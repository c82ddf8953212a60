/**
 * Tells the over-limit caches of all threads of a process which of their entries are no longer good: hits of a counter
 * were refunded, or the rules were replaced. It is a table in shared memory, so that an invalidation holds for every
 * thread as soon as it was issued. Where none is issued, a look-up reads one word.
 *
 * Invalidations are numbered. A slot holds the number of the last one of its stems, its mark; an entry is good while
 * its slot's mark is the one that it was learnt with. A count that was under way while its counter was refunded may
 * come back with the counter before the refund: its slot's mark is newer than the number at which the count began.
 * Stems that share a slot share invalidations: the store is asked once more.
 */

/** A power of 2. */
const SLOTS = 16_384;
/** Position of the last number; the slots follow. */
const LAST = 0;
const FIRST_SLOT = 1;
/** Numbers wrap at 2^32: marks are kept within this distance of the last number, so that they compare. */
const OLDEST = 2 ** 30;

export class Invalidations {
  /** Goes to other threads, which attach to it. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(buffer = new SharedArrayBuffer((SLOTS + FIRST_SLOT) * 4)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /** The number of the last invalidation. */
  get last(): number {
    return this.#words[LAST]!;
  }

  /** Drops what all threads know of a stem. */
  invalidate(stem: string): void {
    const number = this.#next();
    this.#raise(slotOf(stem), number);
    // Each invalidation looks after one slot, so that no mark grows too old to compare.
    const slot = FIRST_SLOT + (number & (SLOTS - 1));
    if (((number - this.mark(slot)) | 0) > OLDEST) this.#raise(slot, (number - OLDEST) | 0);
  }

  /** Drops everything that all threads know. */
  invalidateAll(): void {
    const number = this.#next();
    for (let slot = FIRST_SLOT; slot < FIRST_SLOT + SLOTS; slot++) this.#raise(slot, number);
  }

  /** A plain read: `Atomics.load` takes 25 ns. An aligned word is read whole, and each call reads it anew. */
  mark(slot: number): number {
    return this.#words[slot]!;
  }

  #next(): number {
    return (Atomics.add(this.#words, LAST, 1) + 1) | 0;
  }

  /** Threads may come here in another order than that of their numbers: a mark never falls. */
  #raise(slot: number, number: number): void {
    let mark = Atomics.load(this.#words, slot);
    while (isNewer(number, mark)) {
      const found = Atomics.compareExchange(this.#words, slot, mark, number);
      if (found === mark) return;
      mark = found;
    }
  }
}

/** Whether a number was issued after another one. */
export function isNewer(number: number, other: number): boolean {
  return ((number - other) | 0) > 0;
}

/** FNV-1a over the stem's UTF-16 units. */
export function slotOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index++)
    hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  return FIRST_SLOT + ((hash ^ (hash >>> 15)) & (SLOTS - 1));
}
