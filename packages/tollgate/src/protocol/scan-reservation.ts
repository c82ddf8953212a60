/**
 * Reads the fields of a `ReserveRequest` or a `CommitRequest` behind the domain and the descriptors, which
 * `scan-request.ts` reads: both messages have them in the fields 1 and 2, as Envoy's.
 */
import { ID_DIGITS, type IdWords, readId } from "./reservation-id.ts";
import type { CommitFields, ReserveFields } from "./reservation-messages.ts";
import { skipField } from "./skip-field.ts";
import { WireError, WireReader, WireType } from "./wire.ts";

const AMOUNT = (3 << 3) | WireType.VARINT;
const TTL = (4 << 3) | WireType.BYTES;
const ID = (3 << 3) | WireType.BYTES;
const ACTUAL_AMOUNT = (4 << 3) | WireType.VARINT;
const SECONDS = (1 << 3) | WireType.VARINT;
const NANOS = (2 << 3) | WireType.VARINT;

/** The longest id that is read. A longer one is not one of ours. */
const LONGEST_ID = 256;
/** The greatest `google.protobuf.Duration`. A negative one is a larger number on the wire. */
const MAX_SECONDS = 315_576_000_000;
const MAX_NANOS = 999_999_999;

const reader = new WireReader();
/** Memory for the id of the last commit. */
const words: number[] = [];

/** @throws {WireError} */
export function scanReserve(buffer: Uint8Array, start: number, end: number): ReserveFields {
  reader.reset(buffer, start, end);
  let amount = 0;
  let ttl: number | undefined;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === AMOUNT) amount = reader.wideUint64();
    else if (tag === TTL) {
      reader.end = reader.lengthDelimited();
      ttl = duration();
      reader.end = end;
    } else skipField(reader, tag);
  }
  return { amount, ttl };
}

/** The next call overwrites the words of the id. @throws {WireError} also for an id of more than 256 bytes */
export function scanCommit(buffer: Uint8Array, start: number, end: number): CommitFields {
  reader.reset(buffer, start, end);
  let actual = 0;
  let id: IdWords | string = "";
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === ACTUAL_AMOUNT) actual = reader.wideUint64();
    else if (tag === ID) {
      const next = reader.lengthDelimited();
      if (next - reader.position > LONGEST_ID)
        throw new WireError(`reservation_id is longer than ${LONGEST_ID} bytes`);
      const isOurs = next - reader.position === ID_DIGITS && readId(buffer, reader.position, words);
      id = isOurs ? words : reader.text(reader.position, next);
      reader.position = next;
    } else skipField(reader, tag);
  }
  return { id, actual };
}

/** Reads a `google.protobuf.Duration`, in milliseconds; NaN if it is negative or beyond its range. */
function duration(): number {
  const { end } = reader;
  let seconds = 0;
  let nanos = 0;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === SECONDS) seconds = reader.wideUint64();
    else if (tag === NANOS) nanos = reader.wideUint64();
    else skipField(reader, tag);
  }
  return seconds > MAX_SECONDS || nanos > MAX_NANOS ? Number.NaN : seconds * 1000 + nanos / 1e6;
}
