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
    let slot = hashOf(bytes, start, end) & mask;
    for (;;) {
      const id = slots[slot]!;
      if (id === 0) return 0;
      const from = ends[id - 1]!;
      if (ends[id]! - from === length && equals(this.#bytes, from, bytes, start, length)) return id;
      slot = (slot + 1) & mask;
    }
  }
}

/** Collects texts and numbers them. */
export class TextIdsBuilder {
  readonly #ids = new Map<string, number>();
  /** The numbers of the texts that requests are compared with. */
  readonly #searched: boolean[] = [];

  /** Returns the number of a text. The compiled table finds it. */
  add(text: string): number {
    const id = this.addUnsearched(text);
    this.#searched[id] = true;
    return id;
  }

  /** Returns the number of a text that requests are not compared with: it does not count for the longest one. */
  addUnsearched(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.#ids.size + 1;
    this.#ids.set(text, id);
    return id;
  }

  finish(): TextColumns {
    const ends = new Int32Array(new SharedArrayBuffer(4 * (this.#ids.size + 1)));
    let total = 0;
    let id = 0;
    let longest = -1;
    for (const text of this.#ids.keys()) {
      const length = Buffer.byteLength(text);
      ends[++id] = total += length;
      if (this.#searched[id]) longest = Math.max(longest, length);
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(total));
    const buffer = Buffer.from(bytes.buffer);
    id = 0;
    for (const text of this.#ids.keys()) buffer.write(text, ends[id++]!);
    const slots = new Int32Array(new SharedArrayBuffer(4 * sizeOfTable(2 * this.#ids.size)));
    const mask = slots.length - 1;
    for (id = 1; id < ends.length; id++) {
      let slot = hashOf(bytes, ends[id - 1]!, ends[id]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    return { bytes, ends, slots, longest };
  }
}

/** Returns the smallest power of two that is at least `least`, and at least 8. */
export function sizeOfTable(least: number): number {
  let size = 8;
  while (size < least) size *= 2;
  return size;
}

function equals(own: Uint8Array, from: number, bytes: Uint8Array, start: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (own[from + index] !== bytes[start + index]) return false;
  return true;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
