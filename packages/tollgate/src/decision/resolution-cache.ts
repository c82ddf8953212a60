import { TwoGenerationCache } from "../two-generation-cache.ts";
import { resolutionBytes } from "./kept-bytes.ts";
import type { Resolution, Resolved } from "./resolve.ts";

interface Kept {
  readonly domain: string;
  readonly descriptor: Resolved;
  readonly resolution: Resolution;
  readonly bytes: number;
}

/** Descriptors with more characters, domain included, are not cached. */
const LONGEST = 1024;
/** Descriptors with more entries are not cached. */
const MOST_ENTRIES = 32;
/** In each generation. Descriptors of usual lengths take less than 1 KiB. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Caches resolutions by descriptor, for one rule set: for messages that differ in one descriptor and repeat the others.
 * Finds a descriptor by a hash of its characters. Joining them into a key for a `Map` cost 0.9 of 3.7 us for each
 * descriptor that occurs once. "Caches" in docs/decisions/hot-path.md describes the caches of the decision path together.
 */
export class ResolutionCache {
  readonly #kept: TwoGenerationCache<number, Kept>;
  #generation = -1;
  #hash: number | undefined;

  /** @param capacity descriptors in each generation */
  constructor(capacity: number) {
    this.#kept = new TwoGenerationCache(capacity, MAX_BYTES);
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /** The entry for a descriptor. A new generation of the rules empties the cache. */
  find(generation: number, domain: string, descriptor: Resolved): Resolution | undefined {
    if (generation !== this.#generation) {
      this.#kept.clear();
      this.#generation = generation;
    }
    this.#hash = hashOf(domain, descriptor);
    if (this.#hash === undefined) return undefined;
    const kept = this.#kept.get(this.#hash);
    return kept !== undefined && isSame(kept, domain, descriptor) ? kept.resolution : undefined;
  }

  /** Stores the resolution of the last descriptor that `find` missed, from its second offer on. */
  offer(domain: string, descriptor: Resolved, resolution: Resolution): void {
    const hash = this.#hash;
    if (hash === undefined || !this.#kept.admits(hash)) return;
    const bytes = resolutionBytes(domain, descriptor, resolution);
    this.#kept.put(hash, { domain, descriptor, resolution, bytes });
  }
}

/** Undefined if the descriptor is too long. */
function hashOf(domain: string, { entries, limit }: Resolved): number | undefined {
  let { length } = domain;
  if (length > LONGEST || entries.length > MOST_ENTRIES) return undefined;
  let hash = hashText(0x811c9dc5, domain);
  for (let index = 0; index < entries.length; index++) {
    const { key, value } = entries[index]!;
    length += key.length + value.length;
    if (length > LONGEST) return undefined;
    hash = hashText(hashText(hash, key), value);
  }
  if (limit !== undefined) hash = Math.imul(hash ^ limit.requestsPerUnit, 0x01000193) ^ limit.unit;
  return hash | 0;
}

/** FNV-1a over two characters at a time. */
function hashText(start: number, text: string): number {
  const { length } = text;
  let hash = start ^ length;
  let index = 0;
  for (; index + 1 < length; index += 2) {
    const pair = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
    hash = Math.imul(hash ^ pair, 0x01000193);
    // A multiplication carries upwards only. The shift brings the second character into the lower bits.
    hash ^= hash >>> 15;
  }
  return index < length ? Math.imul(hash ^ text.charCodeAt(index), 0x01000193) : hash;
}

function isSame({ domain, descriptor }: Kept, otherDomain: string, other: Resolved): boolean {
  const { entries, limit } = descriptor;
  if (domain !== otherDomain || entries.length !== other.entries.length) return false;
  for (let index = 0; index < entries.length; index++) {
    const one = entries[index]!;
    const two = other.entries[index]!;
    if (one.key !== two.key || one.value !== two.value) return false;
  }
  return limit?.requestsPerUnit === other.limit?.requestsPerUnit && limit?.unit === other.limit?.unit;
}
