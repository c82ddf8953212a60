import type { HeaderField } from "./field.ts";

/** The maximum number of remembered bytes of a header block. */
const LONGEST = 512;
/** After this many blocks in a row with a different beginning, the next beginning is remembered. */
const MAX_MISSES = 8;

/**
 * The leading fields of a connection's header blocks, up to the first use of the dynamic table: equal bytes then mean
 * equal fields. If a request id or a trace id changes with each call, the method, the path and the content type before it
 * stay the same. They need neither Huffman decoding nor new strings. With 1 KiB of changing metadata, this saves 0.5 µs
 * per call.
 */
export class LeadingFields {
  #bytes: Uint8Array = new Uint8Array(0);
  /** The end of each field in `#bytes`. */
  #ends: readonly number[] = [];
  #fields: readonly HeaderField[] = [];
  #misses = MAX_MISSES - 1;
  /** The number of leading fields that the block of the last `match` shares with the remembered block. */
  matched = 0;

  get fields(): readonly HeaderField[] {
    return this.#fields;
  }

  /** Whether to remember the block of the last `match`. */
  get isOutdated(): boolean {
    return this.#misses >= MAX_MISSES;
  }

  /** Compares the block `bytes[start, end)` with the remembered one. Returns the end of the equal fields. */
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

  /** Remembers the block of the last `match`: its equal fields, and its next fields, which end at `ends`. */
  remember(bytes: Uint8Array, start: number, ends: readonly number[], fields: readonly HeaderField[]): void {
    const all = [...this.#ends.slice(0, this.matched), ...ends.map((end) => end - start)];
    this.#ends = all.filter((end) => end <= LONGEST);
    this.#fields = fields.slice(0, this.#ends.length);
    this.#bytes = Uint8Array.from(bytes.subarray(start, start + (this.#ends.at(-1) ?? 0)));
    this.#misses = 0;
  }
}
