/** A sum of bytes, and optionally a part of a larger sum. */
export class ByteCount {
  readonly #whole: ByteCount | undefined;
  #bytes = 0;

  constructor(whole?: ByteCount) {
    this.#whole = whole;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The larger sum's bytes; its own where it has none. */
  get total(): number {
    return this.#whole === undefined ? this.#bytes : this.#whole.#bytes;
  }

  add(change: number): void {
    this.#bytes += change;
    if (this.#whole !== undefined) this.#whole.#bytes += change;
  }
}
