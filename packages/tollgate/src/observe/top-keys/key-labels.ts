import { decodeLeniently } from "../../text/lenient-utf8.ts";
import type { KeyEntries, KeyMask } from "../key-mask.ts";

/** The places of a descriptor's entries in a message: start and end of each key, start and end of each value. */
export interface EntryPlaces {
  readonly buffer: Uint8Array;
  readonly entries: Int32Array;
}

/** Bytes of a label in place. Longer ones are texts. */
const SLOT = 128;
const PLACES = 4;
const LONGEST = 255;

/**
 * The entries of watched keys. Traffic on many keys replaces a watched key every few calls, so a label is copied as bytes:
 * texts of it are only made when it is read. Texts at once would take a tenth of such calls, and occupy the collector.
 */
export class KeyLabels {
  #bytes: Uint8Array;
  readonly #texts: (KeyEntries | undefined)[] = [];

  constructor(labels: number) {
    this.#bytes = new Uint8Array(labels * SLOT);
  }

  grow(labels: number): void {
    const bytes = new Uint8Array(labels * SLOT);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  /**
   * Copies entries of a message. Returns false if they are too long.
   * @param first index of the first entry in the message
   */
  copy(label: number, { buffer, entries }: EntryPlaces, first: number, count: number): boolean {
    const bytes = this.#bytes;
    let to = label * SLOT;
    const end = to + SLOT;
    bytes[to++] = count;
    const last = PLACES * (first + count);
    for (let place = PLACES * first; place < last; place += 2) {
      let from = entries[place]!;
      const size = entries[place + 1]! - from;
      if (size > LONGEST || to + 1 + size > end) return false;
      bytes[to++] = size;
      for (const stop = from + size; from < stop; from++) bytes[to++] = buffer[from]!;
    }
    this.#texts[label] = undefined;
    return count <= LONGEST;
  }

  set(label: number, entries: KeyEntries): void {
    this.#texts[label] = entries;
  }

  read(label: number, mask: KeyMask): KeyEntries {
    const known = this.#texts[label];
    if (known !== undefined) return known;
    const bytes = this.#bytes;
    let at = label * SLOT;
    const text = () => {
      const start = at + 1;
      at = start + bytes[at]!;
      return decodeLeniently(bytes, start, at);
    };
    const count = bytes[at++]!;
    return mask.entries(Array.from({ length: count }, () => ({ key: text(), value: text() })));
  }
}
