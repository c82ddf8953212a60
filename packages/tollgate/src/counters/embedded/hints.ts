/** What a thread remembers of a stem, so that a hot counter is found without reading its key. */
import type { Shard } from "./shard.ts";

/** Where a stem's counter was found last. Good as long as the window and the segment's generation are the same. */
export interface Hint {
  shard: Shard;
  windowStart: number;
  entry: number;
  /** Word position of the generation of the entry's segment, and the generation that makes the hint good. */
  generationAt: number;
  generation: number;
}

/** Stems in each of the two generations: with usual stems about 2 MiB of heap a thread. */
const CAPACITY = 8192;
/** Longer stems are not worth their memory here. */
const MAX_STEM = 256;
/** A power of 2. */
const MISS_SLOTS = 4096;

/**
 * A bounded map of the hot stems. When the young generation is full it becomes the old one, and what is asked for
 * there comes back: about what an LRU keeps, without its bookkeeping.
 *
 * A stem enters at its second miss in a row of 4,096: with 1,000,000 keys in turn, hints that never serve would take
 * a count from 0.27 to 0.5 µs. For a hot stem a hint saves encoding, hashing and comparing: 0.03 µs instead of 0.09,
 * and 0.06 instead of 0.11 with 1,000 of them.
 */
export class HintCache {
  #young = new Map<string, Hint>();
  #old = new Map<string, Hint>();
  readonly #lastMisses = new Int32Array(MISS_SLOTS);

  get(stem: string): Hint | undefined {
    if (stem.length > MAX_STEM) return undefined;
    const hint = this.#young.get(stem);
    if (hint !== undefined || this.#old.size === 0) return hint;
    const old = this.#old.get(stem);
    if (old !== undefined) this.add(stem, old);
    return old;
  }

  /** Whether to add a stem that missed: it is short enough, and its hash missed before. */
  admits(hash: number, stem: string): boolean {
    const place = hash & (MISS_SLOTS - 1);
    if (this.#lastMisses[place] === hash) return stem.length <= MAX_STEM;
    this.#lastMisses[place] = hash;
    return false;
  }

  add(stem: string, hint: Hint): void {
    if (this.#young.size >= CAPACITY) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(stem, hint);
  }
}
