import type { JsonObject, JsonValue } from "./messages.ts";
import { varintSize, writeTag, writeUtf8 } from "./write-fields.ts";

/**
 * Encodes a `google.protobuf.Struct`: fields = 1, a map entry being { key = 1, value = 2 }; Value: null_value 1, number_value 2,
 * string_value 3, bool_value 4, struct_value 5, list_value 6; ListValue: values = 1. Zero values in a oneof are written.
 */

/** A length-delimited field with a one-byte tag. */
function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** The number of bytes that {@link writeStruct} writes. */
export function structSize(struct: JsonObject): number {
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

/** Writes it at `offset`. Returns the end offset. */
export function writeStruct(buffer: Uint8Array, offset: number, struct: JsonObject): number {
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
