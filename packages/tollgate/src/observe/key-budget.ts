import { stringBytes } from "./text-memory.ts";

/** Bytes of the keys' texts, for each key on average: the bound in bytes that goes with a bound in number. */
export const KEY_BYTES = 256;

/** How many keys a table may take from requests, and how many bytes their texts may have together. */
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

  /** Bytes of all texts as V8 keeps them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room for one more key. False, and nothing taken, where there is none. */
  take(text: string): boolean {
    const bytes = stringBytes(text);
    if (this.#keys >= this.#maxKeys || this.#bytes + bytes > this.#maxKeys * KEY_BYTES) return false;
    this.#keys++;
    this.#bytes += bytes;
    return true;
  }
}
