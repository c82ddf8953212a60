/** Slots for hashes that were seen once: a power of two. */
const SEEN_SLOTS = 8192;

/** A value with its size in memory. */
export interface Sized {
  readonly bytes: number;
}

/**
 * A cache that is bounded in number and in bytes. A hit needs no bookkeeping: a full young generation replaces the old
 * one, and a hit in the old generation copies the value to the young one. The keys are texts, or 32-bit hashes. Two keys
 * may share a hash, so callers with hashes compare the keys. docs/decisions/hot-path.md describes the caches
 * of the decision path, and docs/decisions/embedded-store.md the hints of the embedded store.
 */
export class TwoGenerationCache<Key extends number | string, Value extends Sized> {
  readonly #capacity: number;
  readonly #maxBytes: number;
  readonly #seen = new Int32Array(SEEN_SLOTS);
  #young = new Map<Key, Value>();
  #youngBytes = 0;
  #old = new Map<Key, Value>();
  #oldBytes = 0;

  /**
   * @param capacity values in each generation
   * @param maxBytes bytes of the values in each generation
   */
  constructor(capacity: number, maxBytes: number) {
    this.#capacity = capacity;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Bytes of all values. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined || this.#old.size === 0) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.put(key, old);
    return old;
  }

  /**
   * Whether a key with this hash was offered before, recently. Keeps values that occur only once from evicting others.
   */
  admits(hash: number): boolean {
    const slot = hash & (SEEN_SLOTS - 1);
    if (this.#seen[slot] === hash) return true;
    this.#seen[slot] = hash;
    return false;
  }

  /** Stores a value, unless it is larger than a whole generation may be. */
  put(key: Key, value: Value): void {
    if (value.bytes > this.#maxBytes) return;
    if (this.#young.size >= this.#capacity || this.#youngBytes + value.bytes > this.#maxBytes) {
      this.#old = this.#young;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    const replaced = this.#young.get(key);
    if (replaced !== undefined) this.#youngBytes -= replaced.bytes;
    this.#young.set(key, value);
    this.#youngBytes += value.bytes;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = this.#oldBytes = 0;
  }
}
