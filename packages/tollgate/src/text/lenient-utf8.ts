/**
 * Text from callers that may hold bytes which are not UTF-8. In this process such a byte is a lone surrogate, U+DC80 to
 * U+DCFF, as in Python's `surrogateescape` (PEP 383). No valid text has one, so that different bytes never become
 * the same text: matching, caches and counters need no rule of their own. Text leaves the process through
 * `printable` or as a part of a cache key, which write the bytes out.
 */
import { textOfUnits, unitsFor } from "./unit-scratch.ts";

/** What a byte that is not UTF-8 is added to. */
const ESCAPE = 0xdc00;

/** Decodes `bytes[start, end)`. A byte that belongs to no valid sequence becomes a lone surrogate. */
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

/** Writes a code point as UTF-16. Returns where the next one goes. */
export function addPoint(units: Uint16Array, length: number, point: number): number {
  if (point < 0x10000) {
    units[length] = point;
    return length + 1;
  }
  units[length] = 0xd800 + ((point - 0x10000) >>> 10);
  units[length + 1] = ESCAPE + (point & 0x3ff);
  return length + 2;
}

/** How many bytes the valid sequence has that begins with a byte from C2 to F4; 0 where there is none (Unicode 16, table 3-7). */
function sequenceSize(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + size > end) return 0;
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

/** Whether a lone surrogate stands for a byte; its lower eight bits are the byte. */
export function isEscaped(surrogate: number): boolean {
  return surrogate >= ESCAPE + 0x80 && surrogate <= ESCAPE + 0xff;
}

export function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}

/** The three bytes in which an encoder without a check writes a surrogate. */
export function bytesOfSurrogate(point: number): readonly number[] {
  return [0xe0 | (point >>> 12), 0x80 | ((point >>> 6) & 0x3f), 0x80 | (point & 0x3f)];
}
