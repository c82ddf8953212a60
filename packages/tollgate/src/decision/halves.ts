/** Places that remember what was seen once: a power of two. */
const SEEN = 8192;

/**
 * Values by a 32-bit hash: whoever gets one looks whether it is the right one. Bounded without bookkeeping per hit:
 * when the young half is full it becomes the old one, and what is asked for there moves up.
 */
export class Halves<Value> {
  readonly #capacity: number;
  readonly #seen = new Int32Array(SEEN);
  #young = new Map<number, Value>();
  #old = new Map<number, Value>();

  /** @param capacity values in each half */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(hash: number): Value | undefined {
    const young = this.#young.get(hash);
    if (young !== undefined || this.#old.size === 0) return young;
    const old = this.#old.get(hash);
    if (old !== undefined) this.put(hash, old);
    return old;
  }

  /** Whether this hash was offered before, not long ago: what comes once only would push out what comes again. */
  admits(hash: number): boolean {
    const place = hash & (SEEN - 1);
    if (this.#seen[place] === hash) return true;
    this.#seen[place] = hash;
    return false;
  }

  put(hash: number, value: Value): void {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(hash, value);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
