import type { SourceLocation } from "../model/signature.ts";

/** A source text with the offsets of its lines. Lines end as in ECMAScript, so that V8's positions agree. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(file: string, text: string) {
    this.file = file;
    // Node removes the byte order mark before V8 sees the text
    this.text = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    for (const match of this.text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) {
      this.#lineStarts.push(match.index + match[0].length);
    }
  }

  /** The offset of V8's line and column, both from 0. */
  offset(line: number, column: number): number {
    return (this.#lineStarts[line] ?? this.text.length) + column;
  }

  location(offset: number): SourceLocation {
    const starts = this.#lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { file: this.file, line: low + 1, column: offset - starts[low]! + 1 };
  }

  slice({ start, end }: { readonly start: number; readonly end: number }): string {
    return this.text.slice(start, end);
  }
}
