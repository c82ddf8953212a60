import type { Location } from "./rule.ts";

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** The text of one configuration file. Converts an offset to a line and a column. */
export class Source {
  readonly name: string;
  /** The text without a byte order mark. */
  readonly text: string;
  /** Offsets of the line starts. */
  #starts: Uint32Array | undefined;
  /** The line of the last location. The next one is usually near. */
  #line = 0;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text.startsWith("\uFEFF") ? text.slice(1) : text;
  }

  /** @param offset in UTF-16 code units. Columns count the same units, as in editors. */
  locate(offset: number): Location {
    this.#starts ??= lineStarts(this.text);
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    if (starts[this.#line]! <= offset) low = this.#line;
    // Locations are mostly asked for in the order of the file.
    for (let step = 1; low + step <= high; step *= 2)
      if (starts[low + step]! > offset) high = low + step - 1;
      else low += step;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    this.#line = low;
    return { file: this.name, line: low + 1, column: Math.max(0, offset - starts[low]!) + 1 };
  }

  /** @param line counts from 1 */
  line(line: number): string | undefined {
    this.#starts ??= lineStarts(this.text);
    const starts = this.#starts;
    if (line > starts.length) return undefined;
    return this.text.slice(starts[line - 1], starts[line]).replace(/(?:\r\n|\r|\n)$/, "");
  }
}

function lineStarts(text: string): Uint32Array {
  let starts = new Uint32Array(1024);
  let lines = 1;
  const next = text.includes("\r") ? nextBreak : nextLineFeed;
  for (let at = next(text, 0); at < text.length; at = next(text, at + 1)) {
    if (text.charCodeAt(at) === RETURN && text.charCodeAt(at + 1) === LINE_FEED) at++;
    if (lines === starts.length) {
      const grown = new Uint32Array(2 * lines);
      grown.set(starts);
      starts = grown;
    }
    starts[lines++] = at + 1;
  }
  return starts.subarray(0, lines);
}

/** Searching in the engine takes a fifth of the time of a loop over the characters. */
function nextLineFeed(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at;
}

function nextBreak(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== LINE_FEED && text.charCodeAt(at) !== RETURN) at++;
  return at;
}
