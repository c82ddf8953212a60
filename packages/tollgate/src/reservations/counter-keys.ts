/** Finds counters: by the digest that the embedded store has of a key, and by the key of other stores. */
import type { ReservedLimit } from "../counters/reservations.ts";

export interface KnownCounter {
  /** Its key in the table. */
  readonly key: number | string;
  /** The other half of a digest. */
  readonly half: number;
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
    const { digest, windowStart } = limit;
    if (digest !== undefined) return this.#byDigest(digest);
    const stem = stemOf(limit);
    this.#asked = stem;
    const known = this.#counters.get(stem);
    if (known === undefined || known.windowStart === windowStart) return known;
    this.#asked = `${stem} ${windowStart}`;
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
  keyOf({ digest, windowStart }: ReservedLimit): KnownCounter {
    return { key: this.#asked, half: digest?.[0] ?? 0, windowStart };
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

/** The text of a key. */
export function stemOf({ stem, place }: ReservedLimit): string {
  if (place === undefined) return stem;
  const { bytes, start, end } = place;
  if (Buffer.isBuffer(bytes)) return bytes.toString("latin1", start, end);
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
}
