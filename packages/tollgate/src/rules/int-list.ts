/** A list of 32-bit integers that grows. */
export class IntList {
  #numbers = new Int32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(...numbers: readonly number[]): void {
    if (this.#length + numbers.length > this.#numbers.length) {
      const grown = new Int32Array(2 * (this.#length + numbers.length));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    for (let index = 0; index < numbers.length; index++) this.#numbers[this.#length++] = numbers[index]!;
  }

  at(index: number): number {
    return this.#numbers[index]!;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  /** Copies the numbers to memory that threads can share. */
  finish(): Int32Array {
    const shared = new Int32Array(new SharedArrayBuffer(4 * this.#length));
    shared.set(this.#numbers.subarray(0, this.#length));
    return shared;
  }
}
