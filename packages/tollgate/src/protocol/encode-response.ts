import type {
  CurrentLimit,
  DescriptorStatus,
  HeaderValue,
  JsonObject,
  JsonValue,
  RateLimitResponse,
} from "./messages.ts";

/**
 * Encodes an `envoy.service.ratelimit.v3.RateLimitResponse`. Computes the sizes first, so that it can write directly to
 * the output buffer. Omits zero values, as proto3 specifies.
 */

function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** A length-delimited field with a one-byte tag. */
function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

function numberSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

function stringSize(text: string): number {
  return text === "" ? 0 : fieldSize(Buffer.byteLength(text));
}

function limitSize(limit: CurrentLimit): number {
  const { requestsPerUnit, unit, name, unitMultiplier } = limit;
  const multiplier = unitMultiplier === undefined ? 0 : fieldSize(numberSize(unitMultiplier));
  return numberSize(requestsPerUnit) + numberSize(unit) + stringSize(name) + multiplier;
}

function statusSize(status: DescriptorStatus): number {
  const { currentLimit, durationUntilReset } = status;
  return (
    numberSize(status.code) +
    (currentLimit === undefined ? 0 : fieldSize(limitSize(currentLimit))) +
    numberSize(status.limitRemaining) +
    (durationUntilReset === 0 ? 0 : fieldSize(numberSize(durationUntilReset)))
  );
}

function headerSize({ key, value }: HeaderValue): number {
  return stringSize(key) + stringSize(value);
}

/** The number of bytes that {@link writeResponse} writes. */
export function responseSize(response: RateLimitResponse): number {
  let size = numberSize(response.overallCode);
  for (const status of response.statuses) size += fieldSize(statusSize(status));
  for (const header of response.responseHeadersToAdd) size += fieldSize(headerSize(header));
  if (response.dynamicMetadata !== undefined) size += fieldSize(structSize(response.dynamicMetadata));
  return size;
}

/** Writes a response at `offset`, where `buffer` must have room for {@link responseSize} bytes. Returns the end offset. */
export function writeResponse(response: RateLimitResponse, buffer: Uint8Array, offset: number): number {
  let at = writeNumber(buffer, offset, 0x08, response.overallCode);
  for (const status of response.statuses) {
    at = writeTag(buffer, at, 0x12, statusSize(status));
    at = writeStatus(buffer, at, status);
  }
  for (const header of response.responseHeadersToAdd) {
    at = writeTag(buffer, at, 0x1a, headerSize(header));
    at = writeString(buffer, at, 0x0a, header.key);
    at = writeString(buffer, at, 0x12, header.value);
  }
  if (response.dynamicMetadata !== undefined) {
    at = writeTag(buffer, at, 0x32, structSize(response.dynamicMetadata));
    at = writeStruct(buffer, at, response.dynamicMetadata);
  }
  return at;
}

/** Encodes a response to a new array. */
export function encodeResponse(response: RateLimitResponse): Uint8Array {
  const buffer = Buffer.allocUnsafe(responseSize(response));
  writeResponse(response, buffer, 0);
  return buffer;
}

function writeStatus(buffer: Uint8Array, offset: number, status: DescriptorStatus): number {
  let at = writeNumber(buffer, offset, 0x08, status.code);
  const limit = status.currentLimit;
  if (limit !== undefined) {
    at = writeTag(buffer, at, 0x12, limitSize(limit));
    at = writeNumber(buffer, at, 0x08, limit.requestsPerUnit);
    at = writeNumber(buffer, at, 0x10, limit.unit);
    at = writeString(buffer, at, 0x1a, limit.name);
    if (limit.unitMultiplier !== undefined) {
      at = writeTag(buffer, at, 0x22, numberSize(limit.unitMultiplier));
      at = writeNumber(buffer, at, 0x08, limit.unitMultiplier);
    }
  }
  at = writeNumber(buffer, at, 0x18, status.limitRemaining);
  if (status.durationUntilReset > 0) {
    at = writeTag(buffer, at, 0x22, numberSize(status.durationUntilReset));
    at = writeNumber(buffer, at, 0x08, status.durationUntilReset);
  }
  return at;
}

function writeVarint(buffer: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}

function writeTag(buffer: Uint8Array, offset: number, tag: number, length: number): number {
  buffer[offset] = tag;
  return writeVarint(buffer, offset + 1, length);
}

function writeNumber(buffer: Uint8Array, offset: number, tag: number, value: number): number {
  if (value === 0) return offset;
  buffer[offset] = tag;
  return writeVarint(buffer, offset + 1, value);
}

function writeString(buffer: Uint8Array, offset: number, tag: number, text: string): number {
  if (text === "") return offset;
  const at = writeTag(buffer, offset, tag, Buffer.byteLength(text));
  return at + writeUtf8(buffer, at, text);
}

function writeUtf8(buffer: Uint8Array, offset: number, text: string): number {
  const target = Buffer.isBuffer(buffer)
    ? buffer
    : Buffer.from(buffer.buffer, buffer.byteOffset, buffer.length);
  return target.write(text, offset);
}

// google.protobuf.Struct: fields = 1, a map entry being { key = 1, value = 2 }; Value: null_value 1, number_value 2,
// string_value 3, bool_value 4, struct_value 5, list_value 6; ListValue: values = 1. Zero values in a oneof are written.

function structSize(struct: JsonObject): number {
  let size = 0;
  for (const key of Object.keys(struct)) size += fieldSize(mapEntrySize(key, struct[key]!));
  return size;
}

function mapEntrySize(key: string, value: JsonValue): number {
  return fieldSize(Buffer.byteLength(key)) + fieldSize(valueSize(value));
}

function valueSize(value: JsonValue): number {
  if (value === null || typeof value === "boolean") return 2;
  if (typeof value === "number") return 9;
  if (typeof value === "string") return fieldSize(Buffer.byteLength(value));
  return fieldSize(isList(value) ? listSize(value) : structSize(value));
}

function listSize(list: readonly JsonValue[]): number {
  let size = 0;
  for (const value of list) size += fieldSize(valueSize(value));
  return size;
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function writeStruct(buffer: Uint8Array, offset: number, struct: JsonObject): number {
  let at = offset;
  for (const key of Object.keys(struct)) {
    const value = struct[key]!;
    at = writeTag(buffer, at, 0x0a, mapEntrySize(key, value));
    at = writeTag(buffer, at, 0x0a, Buffer.byteLength(key));
    at += writeUtf8(buffer, at, key);
    at = writeTag(buffer, at, 0x12, valueSize(value));
    at = writeValue(buffer, at, value);
  }
  return at;
}

function writeValue(buffer: Uint8Array, offset: number, value: JsonValue): number {
  if (value === null) {
    buffer[offset] = 0x08;
    buffer[offset + 1] = 0;
    return offset + 2;
  }
  if (typeof value === "boolean") {
    buffer[offset] = 0x20;
    buffer[offset + 1] = value ? 1 : 0;
    return offset + 2;
  }
  if (typeof value === "number") {
    buffer[offset] = 0x11;
    new DataView(buffer.buffer, buffer.byteOffset).setFloat64(offset + 1, value, true);
    return offset + 9;
  }
  if (typeof value === "string") {
    const at = writeTag(buffer, offset, 0x1a, Buffer.byteLength(value));
    return at + writeUtf8(buffer, at, value);
  }
  if (isList(value)) {
    let at = writeTag(buffer, offset, 0x32, listSize(value));
    for (const item of value) {
      at = writeTag(buffer, at, 0x0a, valueSize(item));
      at = writeValue(buffer, at, item);
    }
    return at;
  }
  const at = writeTag(buffer, offset, 0x2a, structSize(value));
  return writeStruct(buffer, at, value);
}
