import type { HeaderField } from "./field.ts";

/** What is remembered at most, in bytes of a header block. */
const LONGEST = 512;
/** So many blocks in a row that begin otherwise, and others are remembered. */
const PATIENCE = 8;

/**
 * The fields with which a connection's header blocks begin, as far as the dynamic table has no part in them: equal bytes
 * mean equal fields then, whatever came between. Where something differs with each call (a request id, a trace), the
 * method, the path and the content type before it do not, and need neither Huffman's code nor new strings: with 1 KiB of
 * metadata that changes a call takes 0.5 us less.
 */
export class LeadingFields {
  #bytes: Uint8Array = new Uint8Array(0);
  /** Where each field ends in `#bytes`. */
  #ends: readonly number[] = [];
  #fields: readonly HeaderField[] = [];
  #misses = PATIENCE - 1;
  /** After `match`: how many of the remembered fields a block begins with. */
  matched = 0;

  get fields(): readonly HeaderField[] {
    return this.#fields;
  }

  /** Whether the block that `match` saw last is to be remembered. */
  get isOutdated(): boolean {
    return this.#misses >= PATIENCE;
  }

  /** Compares the block `bytes[start, end)`; returns where the fields end that it has in common. */
  match(bytes: Uint8Array, start: number, end: number): number {
    const known = this.#bytes;
    const ends = this.#ends;
    const most = Math.min(known.length, end - start);
    let same = 0;
    while (same < most && known[same] === bytes[start + same]) same++;
    let matched = ends.length;
    while (matched > 0 && ends[matched - 1]! > same) matched--;
    this.matched = matched;
    this.#misses = matched > 0 && matched === ends.length ? 0 : this.#misses + 1;
    return matched === 0 ? start : start + ends[matched - 1]!;
  }

  /** Remembers the fields of the block that `match` saw last: those in common, and the next, which end at `ends`. */
  remember(bytes: Uint8Array, start: number, ends: readonly number[], fields: readonly HeaderField[]): void {
    const all = [...this.#ends.slice(0, this.matched), ...ends.map((end) => end - start)];
    this.#ends = all.filter((end) => end <= LONGEST);
    this.#fields = fields.slice(0, this.#ends.length);
    this.#bytes = Uint8Array.from(bytes.subarray(start, start + (this.#ends.at(-1) ?? 0)));
    this.#misses = 0;
  }
}
