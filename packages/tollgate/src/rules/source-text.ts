import type { Location } from "./rule.ts";

/** The text of one configuration file. Converts an offset to a line and a column. */
export class Source {
  readonly name: string;
  /** Without a byte order mark. */
  readonly text: string;
  /** Offsets of the line starts. */
  readonly #starts: number[] = [0];

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text.startsWith("\uFEFF") ? text.slice(1) : text;
    for (const found of this.text.matchAll(/\r\n|\r|\n/g)) this.#starts.push(found.index + found[0].length);
  }

  /** @param offset in UTF-16 code units. Columns count the same units, as in editors. */
  locate(offset: number): Location {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { file: this.name, line: low + 1, column: Math.max(0, offset - this.#starts[low]!) + 1 };
  }

  lines(): readonly string[] {
    return this.text.split(/\r\n|\r|\n/);
  }
}
