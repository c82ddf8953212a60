const PLACES = 4;
const FIRST_SIZE = 1 << 14;
const LAST_SIZE = 1 << 21;

/** Decides whether a count also sends EXPIRE. */
export interface KnownExpiries {
  /** Whether this process has set the expiry of the key. */
  has(hash: number): boolean;
  add(hash: number): void;
  delete(hash: number): void;
}

/** Every count sends EXPIRE, as in the Go service. Two limits with one key then both extend its life. */
export const noExpiries: KnownExpiries = { has: () => false, add() {}, delete() {} };

/**
 * The keys whose expiry this process has set: 32-bit hashes in a table of at most 8 MiB, with four places for each hash.
 * The table may forget a key; a second EXPIRE does no harm. It confuses two keys about once in millions of keys. The reply to the
 * first count then shows that the key is fresh, and the expiry is set.
 */
export class Expiries implements KnownExpiries {
  #table = new Uint32Array(FIRST_SIZE);
  #turn = 0;

  has(hash: number): boolean {
    const table = this.#table;
    const key = hash >>> 0 || 1;
    const at = (key * PLACES) & (table.length - 1);
    return table[at] === key || table[at + 1] === key || table[at + 2] === key || table[at + 3] === key;
  }

  add(hash: number): void {
    const key = hash >>> 0 || 1;
    if (this.#place(key)) return;
    if (this.#table.length < LAST_SIZE) {
      const old = this.#table;
      this.#table = new Uint32Array(old.length * 2);
      for (let i = 0; i < old.length; i++) if (old[i] !== 0) this.#place(old[i]!);
      if (this.#place(key)) return;
    }
    this.#turn = (this.#turn + 1) % PLACES;
    this.#table[((key * PLACES) & (this.#table.length - 1)) + this.#turn] = key;
  }

  delete(hash: number): void {
    const key = hash >>> 0 || 1;
    const at = (key * PLACES) & (this.#table.length - 1);
    for (let i = at; i < at + PLACES; i++) if (this.#table[i] === key) this.#table[i] = 0;
  }

  #place(key: number): boolean {
    const table = this.#table;
    const at = (key * PLACES) & (table.length - 1);
    for (let i = at; i < at + PLACES; i++) {
      if (table[i] !== 0 && table[i] !== key) continue;
      table[i] = key;
      return true;
    }
    return false;
  }
}
