import { stringBytes } from "./text-memory.ts";

/** Average bytes of a key's text. Turns a bound on the number of keys into a bound on their bytes. */
export const KEY_BYTES = 256;

/** Bounds the number of keys that a table takes from requests, and the total bytes of their texts. */
export class KeyBudget {
  readonly #maxKeys: number;
  #keys = 0;
  #bytes = 0;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get keys(): number {
    return this.#keys;
  }

  /** Bytes of all texts in V8's memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves room for one more key. Returns false and reserves nothing if the table is full. */
  take(text: string): boolean {
    const bytes = stringBytes(text);
    if (this.#keys >= this.#maxKeys || this.#bytes + bytes > this.#maxKeys * KEY_BYTES) return false;
    this.#keys++;
    this.#bytes += bytes;
    return true;
  }
}
