/**
 * Text from callers may contain bytes that are not UTF-8. In this process such a byte is a lone surrogate from U+DC80 to
 * U+DCFF, as in Python's `surrogateescape` (PEP 383). Valid text has no lone surrogates, so different bytes always have
 * different texts, and matching, caches and counters need no special case. Text leaves the process through `printable`
 * or in a cache key; both write the original bytes in an escaped form.
 */
import { textOfUnits, unitsFor } from "./unit-scratch.ts";

/** A byte that is not UTF-8 becomes the code unit ESCAPE + byte. */
const ESCAPE = 0xdc00;

/** Decodes `bytes[start, end)`. A byte outside of a valid sequence becomes a lone surrogate. */
export function decodeLeniently(bytes: Uint8Array, start: number, end: number): string {
  const units = unitsFor(end - start);
  let length = 0;
  for (let at = start; at < end; ) {
    const first = bytes[at]!;
    if (first < 0x80) {
      units[length++] = first;
      at++;
      continue;
    }
    const size = first < 0xc2 || first > 0xf4 ? 0 : sequenceSize(bytes, at, end);
    if (size === 0) {
      units[length++] = ESCAPE + first;
      at++;
      continue;
    }
    let point = first & (0x7f >>> size);
    for (let index = 1; index < size; index++) point = (point << 6) | (bytes[at + index]! & 0x3f);
    at += size;
    length = addPoint(units, length, point);
  }
  return textOfUnits(units, length);
}

/** Writes a code point as UTF-16. Returns the next position. */
export function addPoint(units: Uint16Array, length: number, point: number): number {
  if (point < 0x10000) {
    units[length] = point;
    return length + 1;
  }
  units[length] = 0xd800 + ((point - 0x10000) >>> 10);
  units[length + 1] = ESCAPE + (point & 0x3ff);
  return length + 2;
}

/** The length of the sequence that starts with a byte from C2 to F4; 0 if it is not valid (Unicode 16, table 3-7). */
function sequenceSize(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + size > end) return 0;
  const second = bytes[at + 1]!;
  // Rejects overlong sequences, surrogates, and code points above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let index = 2; index < size; index++) if ((bytes[at + index]! & 0xc0) !== 0x80) return 0;
  return size;
}

/**
 * Escapes the lone surrogates of a JSON string. JSON can express them, UTF-8 cannot. Each becomes the three bytes that an
 * encoder without a check would send, escaped like all bytes that are not UTF-8, so the text is the same over gRPC.
 */
export function escapeLoneSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  const units = unitsFor(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at)!;
    if (isSurrogate(point)) for (const byte of bytesOfSurrogate(point)) units[length++] = ESCAPE + byte;
    else length = addPoint(units, length, point);
    if (point > 0xffff) at++;
  }
  return textOfUnits(units, length);
}

/** Whether a code unit is an escaped byte. Its lower eight bits are the byte. */
export function isEscaped(surrogate: number): boolean {
  return surrogate >= ESCAPE + 0x80 && surrogate <= ESCAPE + 0xff;
}

export function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}

/** The three bytes that an encoder without a check writes for a surrogate. */
export function bytesOfSurrogate(point: number): readonly number[] {
  return [0xe0 | (point >>> 12), 0x80 | ((point >>> 6) & 0x3f), 0x80 | (point & 0x3f)];
}
