/** A number of bytes that also counts towards an optional total. */
export class ByteCount {
  readonly #all: ByteCount | undefined;
  #bytes = 0;

  /** @param all the total that includes this count */
  constructor(all?: ByteCount) {
    this.#all = all;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes of the total. Without a total: the bytes of this count. */
  get total(): number {
    return this.#all === undefined ? this.#bytes : this.#all.#bytes;
  }

  add(change: number): void {
    this.#bytes += change;
    if (this.#all !== undefined) this.#all.#bytes += change;
  }
}
