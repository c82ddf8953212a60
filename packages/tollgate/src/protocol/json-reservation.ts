/** The proto3 JSON form of the reservation messages. */
import {
  descriptorsOf,
  type Fields,
  JsonRequestError,
  kind,
  known,
  object,
  parse,
  pick,
  text,
} from "./json-request.ts";
import type { JsonObject } from "./messages.ts";
import type { RequestLimits } from "./request-limits.ts";
import { idOf, idText } from "./reservation-id.ts";
import type {
  CommitFields,
  CommitResponse,
  ReservationTarget,
  ReserveFields,
  ReserveResponse,
} from "./reservation-messages.ts";
import { codeNames } from "./units.ts";

const reserveNames = ["domain", "descriptors", "amount", "ttl"];
const commitNames = [
  "domain",
  "descriptors",
  "reservationId",
  "reservation_id",
  "actualAmount",
  "actual_amount",
];
/** Most characters of an id, as on the wire. */
const LONGEST_ID = 256;

/** @throws {JsonRequestError | OversizedRequestError} */
export function reserveFromJson(bytes: Uint8Array, limits: RequestLimits): ReservationTarget & ReserveFields {
  const fields = fieldsOf(bytes, limits, reserveNames);
  return { ...targetOf(fields, limits), amount: amountOf(fields.amount, "amount"), ttl: ttlOf(fields.ttl) };
}

/** @throws {JsonRequestError | OversizedRequestError} */
export function commitFromJson(bytes: Uint8Array, limits: RequestLimits): ReservationTarget & CommitFields {
  const fields = fieldsOf(bytes, limits, commitNames);
  const id = text(pick(fields, "reservationId", "reservation_id", ""), "reservationId");
  if (id.length > LONGEST_ID)
    throw new JsonRequestError(
      "reservationId",
      `must have at most ${LONGEST_ID} characters, not ${id.length}`,
    );
  const actual = pick(fields, "actualAmount", "actual_amount", "");
  return { ...targetOf(fields, limits), id: idOf(id), actual: amountOf(actual, "actualAmount") };
}

function fieldsOf(bytes: Uint8Array, limits: RequestLimits, names: readonly string[]): Fields {
  const fields = object(parse(bytes, limits), "");
  known(fields, "", names);
  return fields;
}

function targetOf(fields: Fields, limits: RequestLimits): ReservationTarget {
  return { domain: text(fields.domain, "domain"), descriptors: descriptorsOf(fields.descriptors, limits) };
}

/** A whole number, also as a string. Its range is checked with that of binary messages. */
function amountOf(value: unknown, at: string): number {
  if (value === undefined || value === null) return 0;
  const isText = typeof value === "string" && /^\d{1,20}$/.test(value);
  const number = isText || typeof value === "number" ? Number(value) : Number.NaN;
  if (Number.isInteger(number) && number >= 0) return number;
  throw new JsonRequestError(at, `must be a whole number, not ${kind(value)}`);
}

/** Milliseconds. A duration in JSON is a number of seconds with up to nine decimals, and an `s`. */
function ttlOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const match = typeof value === "string" ? /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(value) : null;
  if (match === null)
    throw new JsonRequestError("ttl", `must be a number of seconds such as "10s", not ${kind(value)}`);
  const [, sign, seconds, decimals = ""] = match;
  if (sign === "-") return Number.NaN;
  return Number(seconds) * 1000 + Number(decimals.padEnd(9, "0")) / 1e6;
}

/** An amount is a uint64: a string in JSON. */
export function reserveToJson({ code, id, reserved }: ReserveResponse): JsonObject {
  return {
    code: codeNames[code],
    ...(id !== undefined && { reservationId: idText(id) }),
    ...(reserved > 0 && { reservedAmount: String(reserved) }),
  };
}

export function commitToJson({ released }: CommitResponse): JsonObject {
  return { reservationReleased: released };
}
