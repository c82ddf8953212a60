/** Numbers texts from 1 on, and finds the number of a text from its UTF-8 bytes, without making a string. */
export class TextIds {
  /** All texts, one after the other. */
  #bytes = new Uint8Array(64);
  /** Where each text ends; the text with the number `n` begins at index `n - 1`. */
  readonly #ends: number[] = [0];
  /** An open hash table of numbers; 0 marks a free slot. At most half full. */
  #slots = new Int32Array(16);
  /** Longer texts are not looked up: that would hash all of a text whose length a caller chooses. */
  #longest = -1;

  /** Returns the number of a text, which is a new one if the text is new. */
  add(text: string): number {
    const bytes = Buffer.from(text);
    const known = this.find(bytes, 0, bytes.length);
    if (known !== 0) return known;
    const start = this.#ends.at(-1)!;
    const end = start + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, start);
    const id = this.#ends.push(end) - 1;
    this.#longest = Math.max(this.#longest, bytes.length);
    if (2 * id > this.#slots.length) this.#grow();
    else this.#place(id);
    return id;
  }

  /** Returns the number of the text `bytes[start, end)`, or 0. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.#longest) return 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hashOf(bytes, start, end) & mask;
    for (;;) {
      const id = slots[slot]!;
      if (id === 0) return 0;
      if (this.#ends[id]! - this.#ends[id - 1]! === length && this.#equals(id, bytes, start)) return id;
      slot = (slot + 1) & mask;
    }
  }

  /** Returns the number of a text, or 0. */
  of(text: string): number {
    // A lone surrogate represents a byte that is not UTF-8. No text of the rules has one.
    if (text.length > this.#longest || !text.isWellFormed()) return 0;
    const bytes = Buffer.from(text);
    return this.find(bytes, 0, bytes.length);
  }

  #equals(id: number, bytes: Uint8Array, start: number): boolean {
    const own = this.#bytes;
    const end = this.#ends[id]!;
    for (let at = this.#ends[id - 1]!, other = start; at < end; at++, other++)
      if (own[at] !== bytes[other]) return false;
    return true;
  }

  #place(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashOf(this.#bytes, this.#ends[id - 1]!, this.#ends[id]!) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = id;
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let id = 1; id < this.#ends.length; id++) this.#place(id);
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
