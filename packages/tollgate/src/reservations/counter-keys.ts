/** Finds counters: by the digest that the embedded store has of a key, and by the key of other stores. */
import { randomInt } from "node:crypto";
import type { ReservedLimit } from "../counters/reservations.ts";
import { hashOfBytes, hashOfText } from "../counters/stem-hash.ts";

/** Callers can choose stems with equal hashes. Further ones have texts as their keys in the table. */
const MAX_PROBES = 16;

const seed = randomInt(2 ** 32);

export interface KnownCounter {
  /** Its key in the table. To look up a new text, V8 would first search all its strings. */
  readonly key: number | string;
  /** The other half of a digest. */
  readonly half: number;
  readonly stem: string;
  readonly windowStart: number;
}

/**
 * Counters in the order in which they were added. If one of two with a common key in the table is deleted, the other one may
 * be added again.
 */
export class CounterKeys<Counter extends KnownCounter> {
  readonly #counters = new Map<number | string, Counter>();
  #asked: KnownCounter["key"] = 0;

  get size(): number {
    return this.#counters.size;
  }

  [Symbol.iterator](): Iterator<Counter> {
    return this.#counters.values();
  }

  first(): Counter | undefined {
    return this.#counters.values().next().value;
  }

  find(limit: ReservedLimit): Counter | undefined {
    const { digest } = limit;
    return digest === undefined ? this.#byStem(limit) : this.#byDigest(digest);
  }

  #byStem(limit: ReservedLimit): Counter | undefined {
    const { windowStart } = limit;
    let key = hashOf(limit) ^ windowStart;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const known = this.#counters.get(key);
      if (known === undefined || (known.windowStart === windowStart && isStem(known.stem, limit))) {
        this.#asked = key;
        return known;
      }
      key = (key + 1) | 0;
    }
    this.#asked = `${stemOf(limit)} ${windowStart}`;
    return this.#counters.get(this.#asked);
  }

  /** All windows of a counter have one digest, as in the store. */
  #byDigest(digest: Int32Array): Counter | undefined {
    for (let key = digest[1]!; ; key = (key + 1) | 0) {
      const known = this.#counters.get(key);
      if (known !== undefined && known.half !== digest[0]) continue;
      this.#asked = key;
      return known;
    }
  }

  /** The key of a counter that `find` has just not found. */
  get asked(): KnownCounter["key"] {
    return this.#asked;
  }

  add(counter: Counter): void {
    this.#counters.set(counter.key, counter);
  }

  /** @returns whether it was among the counters */
  delete(counter: Counter): boolean {
    return this.#counters.get(counter.key) === counter && this.#counters.delete(counter.key);
  }

  moveToEnd(counter: Counter): void {
    if (this.delete(counter)) this.add(counter);
  }
}

function hashOf({ stem, place }: ReservedLimit): number {
  return place === undefined
    ? hashOfText(stem, seed)
    : hashOfBytes(place.words, place.start, place.end, seed);
}

function isStem(known: string, { stem, place }: ReservedLimit): boolean {
  if (place === undefined) return known === stem;
  const { bytes, start, end } = place;
  if (known.length !== end - start) return false;
  for (let at = 0; at < known.length; at++) if (known.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}

/** The text of a key. */
export function stemOf({ stem, place }: ReservedLimit): string {
  if (place === undefined) return stem;
  const { bytes, start, end } = place;
  if (Buffer.isBuffer(bytes)) return bytes.toString("latin1", start, end);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}
