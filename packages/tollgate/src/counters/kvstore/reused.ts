/** Objects that keep their memory. Each batch takes them in the same order, so that there are as many as one batch needs. */
export class Reused<One> {
  readonly #make: () => One;
  readonly #all: One[] = [];
  #taken = 0;

  constructor(make: () => One) {
    this.#make = make;
  }

  take(): One {
    const index = this.#taken++;
    if (index === this.#all.length) this.#all.push(this.#make());
    return this.#all[index]!;
  }

  /** Begins with the first one again. */
  restart(): void {
    this.#taken = 0;
  }
}
