import { addPoint, bytesOfSurrogate, isEscaped, isSurrogate } from "./lenient-utf8.ts";
import { SHARED_UNITS, textOfUnits, unitsFor } from "./unit-scratch.ts";

const BACKSLASH = 0x5c;
const SMALL_X = 0x78;
const hex = Buffer.from("0123456789ABCDEF");
/** UTF-16 units of `\xFF`. */
const SHOWN_UNITS = 4;

/** Converts text for statistics, logs, metadata, explanations and spans: a byte that is not UTF-8 becomes `\xFF`. */
export function printable(text: string): string {
  return text.isWellFormed() ? text : show(text);
}

/** Builds the text as UTF-16: 2 ms for 256 KB of such bytes. A regular expression with a callback takes 30 ms. */
function show(text: string): string {
  const { length } = text;
  // Most texts fit in shared memory at their longest; counting first would read them twice.
  const longest = length * 3 * SHOWN_UNITS;
  const units = unitsFor(longest <= SHARED_UNITS ? longest : shownLength(text));
  let size = 0;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    // The loop skips the second half of a surrogate pair.
    if (isEscaped(unit)) {
      size = showByte(units, size, unit & 0xff);
      continue;
    }
    const point = isSurrogate(unit) ? text.codePointAt(at)! : unit;
    if (!isSurrogate(point)) size = addPoint(units, size, point);
    else for (const byte of bytesOfSurrogate(point)) size = showByte(units, size, byte);
    if (point > 0xffff) at++;
  }
  return textOfUnits(units, size);
}

/** An upper bound of the units of the printable text. */
function shownLength(text: string): number {
  let { length } = text;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isEscaped(unit)) length += SHOWN_UNITS - 1;
    else if (isSurrogate(unit)) length += 3 * SHOWN_UNITS - 1;
  }
  return length;
}

function showByte(units: Uint16Array, size: number, byte: number): number {
  units[size] = BACKSLASH;
  units[size + 1] = SMALL_X;
  units[size + 2] = hex[byte >>> 4]!;
  units[size + 3] = hex[byte & 15]!;
  return size + SHOWN_UNITS;
}

/** Copies plain data (strings, lists, objects) with every string made printable. */
export function printableData<T>(value: T): T {
  if (typeof value === "string") return printable(value) as T;
  if (Array.isArray(value)) return value.map(printableData) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, printableData(item)])) as T;
}
