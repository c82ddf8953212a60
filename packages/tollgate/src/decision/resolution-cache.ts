import type { Descriptor } from "../protocol/messages.ts";
import { resolutionBytes } from "./kept-bytes.ts";
import type { Resolution } from "./resolve.ts";
import { TwoGenerationCache } from "./two-generation-cache.ts";

/** What a resolution depends on besides the rules. */
export type Resolved = Pick<Descriptor, "entries" | "limit">;

interface Kept {
  readonly domain: string;
  readonly descriptor: Resolved;
  readonly resolution: Resolution;
  readonly bytes: number;
}

/** Descriptors with more characters than this, their domain included, are not worth their memory. */
const LONGEST = 1024;
/** Descriptors with more entries than this are not worth theirs. */
const MOST_ENTRIES = 32;
/** In each half. Descriptors of usual lengths take less than 1 KiB. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Resolutions by their descriptors, for one rule set at a time: for messages that differ in one descriptor and repeat
 * the others. A descriptor is kept when it comes for the second time. It is found by a hash of its characters (with
 * a text put together for a `Map`, each key that comes once only cost 0.9 of 3.7 us).
 */
export class ResolutionCache {
  readonly #kept: TwoGenerationCache<Kept>;
  #generation = -1;
  #hash: number | undefined;

  /** @param capacity descriptors in each of two halves */
  constructor(capacity: number) {
    this.#kept = new TwoGenerationCache(capacity, MAX_BYTES);
  }

  get size(): number {
    return this.#kept.size;
  }

  /** About the memory of what is kept. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  /** What is kept for a descriptor under the rule set of this generation. A newer rule set empties the cache. */
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

  /** Keeps the resolution of the descriptor that `find` was last asked for, if it has been offered before. */
  offer(domain: string, descriptor: Resolved, resolution: Resolution): void {
    const hash = this.#hash;
    if (hash === undefined || !this.#kept.admits(hash)) return;
    const bytes = resolutionBytes(domain, descriptor, resolution);
    this.#kept.put(hash, { domain, descriptor, resolution, bytes });
  }
}

/** Undefined for what is too long. */
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
    // Multiplying carries upwards only: without this the second character would never reach the lower bits.
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
