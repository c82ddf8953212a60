import { hashOfText, type TextColumns } from "./text-ids.ts";

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
      let slot = hashOfText(bytes, ends[id - 1]!, ends[id]!) & mask;
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
