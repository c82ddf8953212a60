/**
 * Invalidates entries of the over-limit caches of all threads of a process, when hits of a counter were refunded or
 * the rules were replaced. It is a table in shared memory: an invalidation reaches every thread at once. A lookup
 * reads one word.
 *
 * Invalidations are numbered. Stems are hashed to slots. The mark of a slot is the number of the last invalidation of
 * its stems. An entry stores the mark of its slot and is valid until that mark changes. A count that overlaps a refund
 * may return the counter from before the refund. The cache then skips its result, because the mark of the slot is newer
 * than the last invalidation at the start of the count. Stems that share a slot share their invalidations: this costs
 * one more call to the store.
 */

/** A power of 2. */
const SLOTS = 16_384;
/** Position of the last number. The slots follow it. */
const LAST = 0;
const FIRST_SLOT = 1;
/** Numbers wrap at 2^32. Marks stay within this distance of the last number, so that comparisons work. */
const OLDEST = 2 ** 30;

export class Invalidations {
  /** Pass it to other threads, which attach to it. */
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

  /** Invalidates the entries of a stem in all threads. */
  invalidate(stem: string): void {
    this.invalidateSlot(slotOf(stem));
  }

  /** Invalidates the entries of all stems of a slot. */
  invalidateSlot(raised: number): void {
    const number = this.#next();
    this.#raise(raised, number);
    // Each invalidation refreshes one other slot, so that no mark grows too old to compare.
    const slot = FIRST_SLOT + (number & (SLOTS - 1));
    if (((number - this.mark(slot)) | 0) > OLDEST) this.#raise(slot, (number - OLDEST) | 0);
  }

  /** Invalidates all entries in all threads. */
  invalidateAll(): void {
    const number = this.#next();
    for (let slot = FIRST_SLOT; slot < FIRST_SLOT + SLOTS; slot++) this.#raise(slot, number);
  }

  /** A plain read: `Atomics.load` takes 25 ns. Reads of an aligned word do not tear, and each call reads memory. */
  mark(slot: number): number {
    return this.#words[slot]!;
  }

  #next(): number {
    return (Atomics.add(this.#words, LAST, 1) + 1) | 0;
  }

  /** Threads may arrive here in another order than that of their numbers. A mark never decreases. */
  #raise(slot: number, number: number): void {
    let mark = Atomics.load(this.#words, slot);
    while (isNewer(number, mark)) {
      const found = Atomics.compareExchange(this.#words, slot, mark, number);
      if (found === mark) return;
      mark = found;
    }
  }
}

/** Whether a message of another process names a slot. */
export function isSlot(slot: number): boolean {
  return Number.isInteger(slot) && slot >= FIRST_SLOT && slot < FIRST_SLOT + SLOTS;
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
