/**
 * Text from callers that may hold bytes which are not UTF-8. In this process such a byte is a lone surrogate, U+DC80 to
 * U+DCFF, as in Python's `surrogateescape` (PEP 383). No valid text has one, so that different bytes never become
 * the same text: matching, caches and counters need no rule of their own. Text leaves the process through
 * `printable` or as a part of a cache key, which write the bytes out.
 */

/** What a byte that is not UTF-8 is added to. */
const ESCAPE = 0xdc00;

/** UTF-16 units in memory of their own, in the byte order that Node's `utf16le` reads on every machine. */
class UnitWriter {
  readonly #bytes: Buffer;
  #length = 0;

  constructor(mostUnits: number) {
    this.#bytes = Buffer.allocUnsafe(mostUnits * 2);
  }

  add(unit: number): void {
    this.#bytes[this.#length] = unit & 0xff;
    this.#bytes[this.#length + 1] = unit >>> 8;
    this.#length += 2;
  }

  addPoint(point: number): void {
    if (point < 0x10000) this.add(point);
    else {
      this.add(0xd800 + ((point - 0x10000) >>> 10));
      this.add(ESCAPE + (point & 0x3ff));
    }
  }

  toString(): string {
    return this.#bytes.toString("utf16le", 0, this.#length);
  }
}

/** Decodes `bytes[start, end)`. A byte that belongs to no valid sequence becomes a lone surrogate. */
export function decodeLeniently(bytes: Uint8Array, start: number, end: number): string {
  const units = new UnitWriter(end - start);
  for (let at = start; at < end; ) {
    const first = bytes[at]!;
    const size = sequenceSize(bytes, at, end);
    if (size === 0) {
      units.add(ESCAPE + first);
      at++;
      continue;
    }
    let point = size === 1 ? first : first & (0x7f >>> size);
    for (let index = 1; index < size; index++) point = (point << 6) | (bytes[at + index]! & 0x3f);
    units.addPoint(point);
    at += size;
  }
  return units.toString();
}

/** How many bytes the valid sequence at `at` has; 0 where there is none (Unicode 16, table 3-7). */
function sequenceSize(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size === 0 || at + size > end) return 0;
  const second = bytes[at + 1]!;
  // Neither longer than needed, nor a surrogate, nor above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let index = 2; index < size; index++) if ((bytes[at + index]! & 0xc0) !== 0x80) return 0;
  return size;
}

/**
 * Text of a JSON string. A lone surrogate, which JSON can write and UTF-8 cannot, stands for the three bytes that an
 * encoder without a check would send; over gRPC those bytes are not UTF-8 either.
 */
export function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  const units = new UnitWriter(text.length * 3);
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at)!;
    if (isSurrogate(point)) for (const byte of bytesOfSurrogate(point)) units.add(ESCAPE + byte);
    else {
      units.addPoint(point);
      if (point >= 0x10000) at++;
    }
  }
  return units.toString();
}

/** The byte that a lone surrogate stands for; undefined for a surrogate that stands for none. */
export function escapedByte(surrogate: number): number | undefined {
  return surrogate >= ESCAPE + 0x80 && surrogate <= ESCAPE + 0xff ? surrogate - ESCAPE : undefined;
}

export function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}

/** The three bytes in which an encoder without a check writes a surrogate. */
export function bytesOfSurrogate(point: number): readonly number[] {
  return [0xe0 | (point >>> 12), 0x80 | ((point >>> 6) & 0x3f), 0x80 | (point & 0x3f)];
}
