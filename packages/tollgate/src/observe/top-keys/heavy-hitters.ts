/**
 * The keys with the most hits among any number of keys, in bounded memory: Filtered Space-Saving (Homem and Carvalho,
 * "Finding top-k elements in data streams", 2010).
 *
 * At most `capacity` keys are watched, each with a count. All other keys share a table of cells, each with an upper bound
 * of the hits of its keys. A key is watched when the bound of its cell exceeds the least watched count. It replaces the
 * key with that count, whose cell takes over the count. The bound of a cell never exceeds the least count, and the counts
 * never exceed the hits in all, so with N hits in all:
 *
 * - The hits of a watched key are at least `count - error` and at most `count`, and `error` is at most N / capacity.
 * - Every key with more than N / capacity hits is watched.
 *
 * As long as there are no more keys than `capacity`, all counts are exact.
 */
export class HeavyHitters {
  /** All hits. */
  total = 0;
  readonly #room: Room;
  readonly #most: number;
  #used = 0;
  #counts: Float64Array;
  #errors: Float64Array;
  #hashes: Int32Array;
  /** An open hash table of entries, counted from 1; 0 marks a free slot. At most half full. */
  #slots: Int32Array;
  /** Made when the watched keys are full. From then on, their number stays. */
  #cells: Float64Array | undefined;
  #full = false;
  /** A lower bound of the least count. */
  #least = 0;
  #hand = 0;

  /** @param most keys that it watches if `room` has place for them */
  constructor(most: number, room: Room) {
    this.#room = room;
    this.#most = most;
    const first = Math.min(most, FIRST);
    room.taken += first;
    this.#counts = new Float64Array(first);
    this.#errors = new Float64Array(first);
    this.#hashes = new Int32Array(first);
    this.#slots = new Int32Array(slotsFor(first));
  }

  /** Keys that it has memory for. */
  get capacity(): number {
    return this.#counts.length;
  }

  /**
   * Adds hits of a key. Returns the number of its entry if the key was not watched before, or -1.
   * @param hash of the key; equal hashes count as one key
   * @param hits more than 0
   */
  add(hash: number, hits: number): number {
    this.total += hits;
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = slots[slot]! - 1;
      if (entry < 0) break;
      if (hashes[entry] === hash) {
        this.#counts[entry]! += hits;
        return -1;
      }
      slot = (slot + 1) & mask;
    }
    if (this.#full) return this.#contest(hash, hits);
    const entry = this.#used++;
    this.#set(entry, hash, hits, 0);
    if (this.#used === this.capacity) this.#full = !this.#grow();
    return entry;
  }

  /** Most hits that a key can have if it is not watched. */
  boundOf(hash: number): number {
    return this.#cells === undefined ? 0 : this.#cells[this.#cellOf(hash)]!;
  }

  /** Most hits of any key that is not watched. */
  get bound(): number {
    return this.#cells === undefined ? 0 : this.#cells.reduce((most, bound) => Math.max(most, bound), 0);
  }

  /** Yields the watched keys in no order. */
  *entries(): Generator<Watched> {
    for (let entry = 0; entry < this.#used; entry++)
      yield {
        entry,
        hash: this.#hashes[entry]!,
        count: this.#counts[entry]!,
        error: this.#errors[entry]!,
      };
  }

  /** Gives the room back. It must not be used afterwards. */
  release(): void {
    this.#room.taken -= this.capacity;
  }

  #contest(hash: number, hits: number): number {
    this.#cells ??= new Float64Array(CELLS * tableSize(this.capacity));
    const cells = this.#cells;
    const cell = this.#cellOf(hash);
    const before = cells[cell]!;
    const after = before + hits;
    // The known least count may be too low, so look for a key with it before one is replaced.
    const entry = after > this.#least ? this.#leastEntry() : -1;
    if (after <= this.#least) {
      cells[cell] = after;
      return -1;
    }
    const left = this.#cellOf(this.#hashes[entry]!);
    cells[left] = Math.max(cells[left]!, this.#counts[entry]!);
    this.#unlink(this.#hashes[entry]!);
    this.#set(entry, hash, after, before);
    return entry;
  }

  /** Finds an entry with the least count, and updates that count. The next search begins where this one ended. */
  #leastEntry(): number {
    const counts = this.#counts;
    const size = counts.length;
    let least = Number.POSITIVE_INFINITY;
    let found = 0;
    let entry = this.#hand;
    for (let step = 0; step < size; step++) {
      entry = entry + 1 < size ? entry + 1 : 0;
      const count = counts[entry]!;
      if (count >= least) continue;
      least = count;
      found = entry;
      if (count <= this.#least) break;
    }
    this.#hand = found;
    this.#least = least;
    return found;
  }

  #cellOf(hash: number): number {
    // The slots use the lower bits.
    return (Math.imul(hash, 0x9e3779b1) >>> 15) & (this.#cells!.length - 1);
  }

  #set(entry: number, hash: number, count: number, error: number): void {
    this.#hashes[entry] = hash;
    this.#counts[entry] = count;
    this.#errors[entry] = error;
    this.#link(entry);
  }

  #link(entry: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#hashes[entry]! & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = entry + 1;
  }

  /** Frees a slot, and moves back the entries behind it that would no longer be found (Knuth, 6.4, algorithm R). */
  #unlink(hash: number): void {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const mask = slots.length - 1;
    let free = hash & mask;
    while (hashes[slots[free]! - 1] !== hash) free = (free + 1) & mask;
    for (let slot = (free + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = hashes[slots[slot]! - 1]! & mask;
      if (((slot - home) & mask) < ((slot - free) & mask)) continue;
      slots[free] = slots[slot]!;
      free = slot;
    }
    slots[free] = 0;
  }

  /** Called once at each size. When there is no room, the size stays. */
  #grow(): boolean {
    const { capacity } = this;
    const size = Math.min(2 * capacity, this.#most);
    const more = size - capacity;
    if (more === 0) return false;
    if (this.#room.taken + more > this.#room.size) return false;
    this.#room.taken += more;
    this.#counts = grown(this.#counts, new Float64Array(size));
    this.#errors = grown(this.#errors, new Float64Array(size));
    this.#hashes = grown(this.#hashes, new Int32Array(size));
    this.#slots = new Int32Array(slotsFor(size));
    for (let entry = 0; entry < this.#used; entry++) this.#link(entry);
    return true;
  }
}

/** The number of keys that may be watched in all, and that have memory. */
export interface Room {
  readonly size: number;
  taken: number;
}

/** A watched key. */
export interface Watched {
  /** Its number: below the capacity. */
  readonly entry: number;
  readonly hash: number;
  /** Most hits that the key can have. */
  readonly count: number;
  /** The key has at least `count - error` hits. */
  readonly error: number;
}

/** Keys with memory at first: most rules have few. */
export const FIRST = 8;
/** Cells for each watched key. With 8, one hit in nine on keys that are not watched replaces a key; the error is a third. */
const CELLS = 8;

function slotsFor(keys: number): number {
  return 2 * tableSize(keys);
}

/** The smallest power of two that is at least `least`. */
function tableSize(least: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(least, 1)));
}

function grown<Numbers extends Float64Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
