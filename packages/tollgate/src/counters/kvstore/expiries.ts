const PLACES = 4;
const FIRST_SIZE = 1 << 14;
const LAST_SIZE = 1 << 21;

/** Decides whether a count also sends EXPIRE. */
export interface KnownExpiries {
  /** Marks a key. @returns whether this process has marked it before: its expiry is set */
  mark(hash: number): boolean;
  delete(hash: number): void;
}

/** Every count sends EXPIRE, as in the Go service. Two limits with one key then both extend its life. */
export const noExpiries: KnownExpiries = { mark: () => false, delete() {} };

/**
 * The keys whose expiry this process has set: 32-bit hashes in a table of at most 8 MiB, with four places for each hash.
 * The table may forget a key; a second EXPIRE does no harm. It confuses two keys about once in millions of keys. The reply to the
 * first count then shows that the key is fresh, and the expiry is set.
 */
export class Expiries implements KnownExpiries {
  #table = new Uint32Array(FIRST_SIZE);
  #turn = 0;
  /** The number of taken places. */
  #marks = 0;

  mark(hash: number): boolean {
    const key = hash >>> 0 || 1;
    let place = this.#placeOf(key);
    if (place < 0) return true;
    if (this.#table[place] !== 0) place += this.#turn = (this.#turn + 1) % PLACES;
    else if (++this.#marks > this.#table.length / PLACES && this.#table.length < LAST_SIZE) {
      this.#grow();
      place = this.#placeOf(key);
    }
    this.#table[place] = key;
    return false;
  }

  delete(hash: number): void {
    const key = hash >>> 0 || 1;
    const at = (key * PLACES) & (this.#table.length - 1);
    for (let place = at; place < at + PLACES; place++)
      if (this.#table[place] === key) {
        this.#table[place] = 0;
        this.#marks--;
      }
  }

  /** A free place for a key, or the first of its places if none is free. -1 if the table has the key. */
  #placeOf(key: number): number {
    const table = this.#table;
    const first = (key * PLACES) & (table.length - 1);
    let free = first;
    for (let at = first; at < first + PLACES; at++) {
      if (table[at] === key) return -1;
      if (table[at] === 0) free = at;
    }
    return free;
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Uint32Array(old.length * 2);
    for (const key of old) if (key !== 0) this.#table[this.#placeOf(key)] = key;
  }
}
