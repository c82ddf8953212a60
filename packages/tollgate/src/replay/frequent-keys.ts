/** Numbers of one key. */
export interface KeyChanges {
  readonly key: string;
  newlyRefused: number;
  newlyPass: number;
}

/**
 * The keys with the most changes, in bounded memory (Misra and Gries, 1982). The number of a key is at most `error` too
 * small, and never too large. With fewer keys than the capacity it is exact.
 */
export class FrequentKeys {
  readonly #capacity: number;
  #keys = new Map<string, KeyChanges>();
  #error = 0;

  /** @param capacity the number of keys that are kept; twice as many between two clean-ups */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get error(): number {
    return this.#error;
  }

  add(key: string, newlyRefused: number, newlyPass: number): void {
    const known = this.#keys.get(key);
    if (known !== undefined) {
      known.newlyRefused += newlyRefused;
      known.newlyPass += newlyPass;
      return;
    }
    this.#keys.set(key, { key, newlyRefused, newlyPass });
    if (this.#keys.size >= 2 * this.#capacity) this.#reduce();
  }

  /** The keys with the most changes, the greatest number first. */
  top(count: number): readonly KeyChanges[] {
    return this.#sorted().slice(0, count);
  }

  #sorted(): KeyChanges[] {
    return [...this.#keys.values()].sort((a, b) => sumOf(b) - sumOf(a) || (a.key < b.key ? -1 : 1));
  }

  /** Lowers all numbers by that of the first key that does not fit, and drops the keys that reach 0. */
  #reduce(): void {
    const sorted = this.#sorted();
    const lost = sumOf(sorted[this.#capacity]!);
    this.#error += lost;
    this.#keys = new Map();
    for (const entry of sorted.slice(0, this.#capacity)) {
      const sum = sumOf(entry);
      if (sum <= lost) break;
      entry.newlyRefused *= (sum - lost) / sum;
      entry.newlyPass *= (sum - lost) / sum;
      this.#keys.set(entry.key, entry);
    }
  }
}

function sumOf({ newlyRefused, newlyPass }: KeyChanges): number {
  return newlyRefused + newlyPass;
}
