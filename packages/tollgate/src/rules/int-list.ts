/** A list of 32-bit integers that grows. */
export class IntList {
  #numbers = new Int32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The numbers, with room for more. Valid until the list grows. */
  get numbers(): Int32Array {
    return this.#numbers;
  }

  /** Appends zeros. Returns the index of the first. */
  extend(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.#numbers.length) {
      const grown = new Int32Array(2 * this.#length);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    return start;
  }

  push(number: number): void {
    const index = this.extend(1);
    this.#numbers[index] = number;
  }

  /** Appends four numbers. A rest parameter would make a list of them. */
  pushFour(a: number, b: number, c: number, d: number): void {
    const index = this.extend(4);
    const numbers = this.#numbers;
    numbers[index] = a;
    numbers[index + 1] = b;
    numbers[index + 2] = c;
    numbers[index + 3] = d;
  }

  /** Copies the numbers to memory that threads can share. */
  finish(): Int32Array {
    const shared = new Int32Array(new SharedArrayBuffer(4 * this.#length));
    shared.set(this.#numbers.subarray(0, this.#length));
    return shared;
  }
}
