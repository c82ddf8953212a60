import type { Resolution } from "./resolve.ts";

/**
 * Resolutions by the text of what was resolved, for one rule set at a time. Bounded without bookkeeping per hit:
 * two maps of at most `capacity` entries; when the young one is full it becomes the old one, and what is asked
 * for again moves up.
 */
export class ResolutionCache {
  readonly #capacity: number;
  readonly #longestKey: number;
  #young = new Map<string, Resolution>();
  #old = new Map<string, Resolution>();
  #generation = -1;

  constructor(capacity: number, longestKey = 1024) {
    this.#capacity = capacity;
    this.#longestKey = longestKey;
  }

  /** What is kept for `key` under the rule set of this generation. A newer rule set empties the cache. */
  get(generation: number, key: string): Resolution | undefined {
    if (generation !== this.#generation) {
      this.#young = new Map();
      this.#old = new Map();
      this.#generation = generation;
      return undefined;
    }
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#put(key, old);
    return old;
  }

  /** Keeps a resolution made under the generation that `get` was last asked for. Longer keys are not worth their bytes. */
  set(key: string, resolution: Resolution): void {
    if (key.length <= this.#longestKey) this.#put(key, resolution);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #put(key: string, resolution: Resolution): void {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, resolution);
  }
}
