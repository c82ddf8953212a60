/** Writes a `ReserveResponse` or a `CommitResponse`. */
import { ID_DIGITS, writeId } from "./reservation-id.ts";
import type { CommitResponse, ReserveResponse } from "./reservation-messages.ts";
import { WireType } from "./wire.ts";

const CODE = (1 << 3) | WireType.VARINT;
const ID = (2 << 3) | WireType.BYTES;
const RESERVED_AMOUNT = (3 << 3) | WireType.VARINT;
const RELEASED = (1 << 3) | WireType.VARINT;

/** The most bytes of a `ReserveResponse`. */
export const RESERVE_RESPONSE_BYTES = 4 + ID_DIGITS + 11;
export const COMMIT_RESPONSE_BYTES = 2;

/** @returns the end of the message */
export function writeReserveResponse(
  { code, id, reserved }: ReserveResponse,
  bytes: Uint8Array,
  start: number,
): number {
  let at = start;
  bytes[at++] = CODE;
  bytes[at++] = code;
  if (id !== undefined) {
    bytes[at++] = ID;
    bytes[at++] = ID_DIGITS;
    at = writeId(id, bytes, at);
  }
  if (reserved > 0) {
    bytes[at++] = RESERVED_AMOUNT;
    let rest = reserved;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
    bytes[at++] = rest;
  }
  return at;
}

/** @returns the end of the message */
export function writeCommitResponse({ released }: CommitResponse, bytes: Uint8Array, start: number): number {
  if (!released) return start;
  bytes[start] = RELEASED;
  bytes[start + 1] = 1;
  return start + COMMIT_RESPONSE_BYTES;
}
