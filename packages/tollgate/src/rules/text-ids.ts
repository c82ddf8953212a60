/** Texts with numbers from 1 on, in memory that threads can share. */
export interface TextColumns {
  /** All texts in UTF-8, one after the other. */
  readonly bytes: Uint8Array;
  /** The end of each text. The text with the number `n` begins at the end of the one before it. */
  readonly ends: Int32Array;
  /** An open hash table of numbers; 0 marks a free slot. At most half full. */
  readonly slots: Int32Array;
  /** Longer texts are not looked up: that would hash all of a text whose length a caller chooses. */
  readonly longest: number;
}

/** Finds the number of a text, from its characters or from its UTF-8 bytes, and the text of a number. */
export class TextIds {
  readonly #bytes: Uint8Array;
  readonly #buffer: Buffer;
  readonly #ends: Int32Array;
  readonly #slots: Int32Array;
  readonly #longest: number;
  readonly #scratch: Uint8Array;

  constructor({ bytes, ends, slots, longest }: TextColumns) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#ends = ends;
    this.#slots = slots;
    this.#longest = longest;
    this.#scratch = new Uint8Array(Math.max(longest, 0));
  }

  /** Returns the text of a number. */
  text(id: number): string {
    return this.#buffer.toString("utf8", this.#ends[id - 1], this.#ends[id]);
  }

  /** Returns the number of a text, or 0. */
  of(text: string): number {
    const { length } = text;
    if (length > this.#longest) return 0;
    const scratch = this.#scratch;
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return this.#ofOther(text);
      scratch[at] = unit;
    }
    return this.find(scratch, 0, length);
  }

  #ofOther(text: string): number {
    // A lone surrogate represents a byte that is not UTF-8. No text of the rules has one.
    if (!text.isWellFormed()) return 0;
    const bytes = Buffer.from(text);
    return this.find(bytes, 0, bytes.length);
  }

  /** Returns the number of the text `bytes[start, end)`, or 0. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.#longest) return 0;
    const slots = this.#slots;
    const ends = this.#ends;
    const mask = slots.length - 1;
    let slot = hashOfText(bytes, start, end) & mask;
    for (;;) {
      const id = slots[slot]!;
      if (id === 0) return 0;
      const from = ends[id - 1]!;
      if (ends[id]! - from === length && equals(this.#bytes, from, bytes, start, length)) return id;
      slot = (slot + 1) & mask;
    }
  }
}

/** Whether `own[from, from + length)` and `bytes[start, start + length)` are equal. */
export function equals(
  own: Uint8Array,
  from: number,
  bytes: Uint8Array,
  start: number,
  length: number,
): boolean {
  for (let index = 0; index < length; index++) if (own[from + index] !== bytes[start + index]) return false;
  return true;
}

/** Hashes a text. The compiled table of texts depends on it. */
export function hashOfText(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
