import { equals, hashOfText, type TextColumns } from "./text-ids.ts";

/**
 * Collects texts and numbers them, in a table like the one that requests search. A `Map` of them would take an eighth of the
 * time of a load: the engine interns each text that it looks up.
 */
export class TextIdsBuilder {
  #bytes = Buffer.alloc(1024);
  #ends = new Int32Array(64);
  #slots = new Int32Array(sizeOfTable(0));
  #size = 0;
  /** Bytes of the longest text that requests are compared with. */
  #longest = -1;

  /** Returns the number of a text. The compiled table finds it. */
  add(text: string): number {
    const id = this.addUnsearched(text);
    this.#longest = Math.max(this.#longest, this.#ends[id]! - this.#ends[id - 1]!);
    return id;
  }

  /** Returns the number of a text that requests are not compared with: it does not count for the longest one. */
  addUnsearched(text: string): number {
    const start = this.#ends[this.#size]!;
    const end = this.#write(text, start);
    const bytes = this.#bytes;
    const ends = this.#ends;
    const slots = this.#slots;
    let slot = hashOfText(bytes, start, end) & (slots.length - 1);
    for (let id = slots[slot]!; id !== 0; id = slots[slot]!) {
      const from = ends[id - 1]!;
      if (ends[id]! - from === end - start && equals(bytes, from, bytes, start, end - start)) return id;
      slot = (slot + 1) & (slots.length - 1);
    }
    slots[slot] = ++this.#size;
    ends[this.#size] = end;
    this.#grow();
    return this.#size;
  }

  finish(): TextColumns {
    const ends = sharedCopy(this.#ends.subarray(0, this.#size + 1));
    const bytes = new Uint8Array(new SharedArrayBuffer(ends[this.#size]!));
    bytes.set(this.#bytes.subarray(0, bytes.length));
    return { bytes, ends, slots: sharedCopy(this.#slots), longest: this.#longest };
  }

  /** Writes a text behind the others. Returns its end. */
  #write(text: string, start: number): number {
    const { length } = text;
    if (this.#bytes.length < start + 3 * length) {
      const grown = Buffer.alloc(2 * (start + 3 * length));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
    }
    const bytes = this.#bytes;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return start + bytes.write(text, start);
      bytes[start + index] = unit;
    }
    return start + length;
  }

  /** Makes room for another text. The slots are at most half full. */
  #grow(): void {
    if (this.#size + 1 === this.#ends.length) {
      const grown = new Int32Array(2 * this.#ends.length);
      grown.set(this.#ends);
      this.#ends = grown;
    }
    if (2 * this.#size <= this.#slots.length) return;
    const slots = new Int32Array(2 * this.#slots.length);
    for (let id = 1; id <= this.#size; id++) {
      let slot = hashOfText(this.#bytes, this.#ends[id - 1]!, this.#ends[id]!) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = id;
    }
    this.#slots = slots;
  }
}

function sharedCopy(numbers: Int32Array): Int32Array {
  const shared = new Int32Array(new SharedArrayBuffer(4 * numbers.length));
  shared.set(numbers);
  return shared;
}

/** Returns the smallest power of two that is at least `least`, and at least 8. */
export function sizeOfTable(least: number): number {
  let size = 8;
  while (size < least) size *= 2;
  return size;
}
