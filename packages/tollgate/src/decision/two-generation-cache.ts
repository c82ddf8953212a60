/** Places that remember what was seen once: a power of two. */
const SEEN = 8192;

/** A value that says how much memory keeping it takes. */
export interface Sized {
  readonly bytes: number;
}

/**
 * Values by a 32-bit hash; callers check that a value is the right one. Bounded in number and in bytes without
 * bookkeeping per hit: when the young half is full it becomes the old one, and values that are asked for there move up.
 */
export class TwoGenerationCache<Value extends Sized> {
  readonly #capacity: number;
  readonly #maxBytes: number;
  readonly #seen = new Int32Array(SEEN);
  #young = new Map<number, Value>();
  #youngBytes = 0;
  #old = new Map<number, Value>();
  #oldBytes = 0;

  /**
   * @param capacity values in each half
   * @param maxBytes bytes of the values in each half
   */
  constructor(capacity: number, maxBytes: number) {
    this.#capacity = capacity;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Of all values. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(hash: number): Value | undefined {
    const young = this.#young.get(hash);
    if (young !== undefined || this.#old.size === 0) return young;
    const old = this.#old.get(hash);
    if (old !== undefined) this.put(hash, old);
    return old;
  }

  /** Whether this hash was offered before, not long ago: a value that comes once only would push out others. */
  admits(hash: number): boolean {
    const place = hash & (SEEN - 1);
    if (this.#seen[place] === hash) return true;
    this.#seen[place] = hash;
    return false;
  }

  /** Keeps a value, unless it alone takes more than a half may. */
  put(hash: number, value: Value): void {
    if (value.bytes > this.#maxBytes) return;
    if (this.#young.size >= this.#capacity || this.#youngBytes + value.bytes > this.#maxBytes) {
      this.#old = this.#young;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    const replaced = this.#young.get(hash);
    if (replaced !== undefined) this.#youngBytes -= replaced.bytes;
    this.#young.set(hash, value);
    this.#youngBytes += value.bytes;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = this.#oldBytes = 0;
  }
}
