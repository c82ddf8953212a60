import { endianness } from "node:os";

/** Units of the shared buffer for short texts: an allocation for each text took longer than writing it. */
export const SHARED_UNITS = 32 * 1024;

const sharedUnits = new Uint16Array(SHARED_UNITS);
const sharedBytes = Buffer.from(sharedUnits.buffer);
const isBigEndian = endianness() === "BE";

/** A buffer for `length` UTF-16 units, valid until the next call. */
export function unitsFor(length: number): Uint16Array {
  return length <= SHARED_UNITS ? sharedUnits : new Uint16Array(length);
}

/** The first `length` units as a string. Keeps lone surrogates, which `TextDecoder` would replace. */
export function textOfUnits(units: Uint16Array, length: number): string {
  const bytes = units === sharedUnits ? sharedBytes : Buffer.from(units.buffer);
  if (isBigEndian) bytes.subarray(0, length * 2).swap16();
  return bytes.toString("utf16le", 0, length * 2);
}
