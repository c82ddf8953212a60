/**
 * Words of a script: integers as doubles of 8 bytes, the low byte first. Lua reads and writes hundreds of them with one
 * call of `struct`, and each takes a tenth of the CPU of an argument or of a reply of its own.
 */

const WORD = 8;
const INITIAL_SIZE = 32 * WORD;
/** A larger buffer, grown by one huge batch, is released afterwards. */
const MAX_KEPT_SIZE = 256 * 1024;

export class Words {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_SIZE);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  get length(): number {
    return this.#size / WORD;
  }

  /** Valid until the next change. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  /** @returns the index of the word */
  push(value: number): number {
    const at = this.#size;
    this.#room(at + WORD);
    this.#view.setFloat64(at, value, true);
    this.#size = at + WORD;
    return at / WORD;
  }

  at(index: number): number {
    return this.#view.getFloat64(index * WORD, true);
  }

  increment(index: number): void {
    const at = index * WORD;
    this.#view.setFloat64(at, this.#view.getFloat64(at, true) + 1, true);
  }

  /**
   * Replaces all words by those of a binary reply.
   * @returns false if its length is not that of whole words
   */
  read(reply: string): boolean {
    this.clear();
    this.#room(reply.length);
    this.#size = this.#bytes.write(reply, 0, "latin1");
    return this.#size % WORD === 0;
  }

  clear(): void {
    this.#size = 0;
    if (this.#bytes.length > MAX_KEPT_SIZE) this.#resize(INITIAL_SIZE);
  }

  #room(size: number): void {
    if (size > this.#bytes.length) this.#resize(Math.max(size, 2 * this.#bytes.length));
  }

  #resize(size: number): void {
    const bytes = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}
