import { structSize, writeStruct } from "./encode-struct.ts";
import type { CurrentLimit, DescriptorStatus, RateLimitResponse } from "./messages.ts";
import { endField, writeNumber, writeString, writeTag } from "./write-fields.ts";

/** Encodes an `envoy.service.ratelimit.v3.RateLimitResponse` directly to the output buffer. */

/** The most bytes of a status without the name of its limit, and of a header without its texts. */
const STATUS_BYTES = 64;
const HEADER_BYTES = 20;
/** The most bytes of a UTF-16 unit in UTF-8. */
const UNIT_BYTES = 3;

/** At least the number of bytes that {@link writeResponse} writes. */
export function maxResponseSize(response: RateLimitResponse): number {
  const { statuses, responseHeadersToAdd, dynamicMetadata } = response;
  let size = HEADER_BYTES;
  for (const { currentLimit } of statuses)
    size += STATUS_BYTES + UNIT_BYTES * (currentLimit === undefined ? 0 : currentLimit.name.length);
  for (const { key, value } of responseHeadersToAdd)
    size += HEADER_BYTES + UNIT_BYTES * (key.length + value.length);
  return dynamicMetadata === undefined ? size : size + structSize(dynamicMetadata);
}

/** Writes a response at `offset`, where `buffer` must have room for {@link maxResponseSize} bytes. Returns the end offset. */
export function writeResponse(response: RateLimitResponse, buffer: Uint8Array, offset: number): number {
  let at = writeNumber(buffer, offset, 0x08, response.overallCode);
  for (const status of response.statuses) {
    buffer[at] = 0x12;
    at = endField(buffer, at + 2, writeStatus(buffer, at + 2, status));
  }
  for (const { key, value } of response.responseHeadersToAdd) {
    buffer[at] = 0x1a;
    const end = writeString(buffer, at + 2, 0x0a, key);
    at = endField(buffer, at + 2, writeString(buffer, end, 0x12, value));
  }
  if (response.dynamicMetadata !== undefined) {
    at = writeTag(buffer, at, 0x32, structSize(response.dynamicMetadata));
    at = writeStruct(buffer, at, response.dynamicMetadata);
  }
  return at;
}

/** Encodes a response to a new array. */
export function encodeResponse(response: RateLimitResponse): Uint8Array {
  const buffer = Buffer.allocUnsafe(maxResponseSize(response));
  return buffer.subarray(0, writeResponse(response, buffer, 0));
}

function writeStatus(buffer: Uint8Array, offset: number, status: DescriptorStatus): number {
  let at = writeNumber(buffer, offset, 0x08, status.code);
  if (status.currentLimit !== undefined) {
    buffer[at] = 0x12;
    at = endField(buffer, at + 2, writeLimit(buffer, at + 2, status.currentLimit));
  }
  at = writeNumber(buffer, at, 0x18, status.limitRemaining);
  return status.durationUntilReset > 0 ? writeWrapped(buffer, at, status.durationUntilReset) : at;
}

function writeLimit(buffer: Uint8Array, offset: number, limit: CurrentLimit): number {
  let at = writeNumber(buffer, offset, 0x08, limit.requestsPerUnit);
  at = writeNumber(buffer, at, 0x10, limit.unit);
  at = writeString(buffer, at, 0x1a, limit.name);
  return limit.unitMultiplier === undefined ? at : writeWrapped(buffer, at, limit.unitMultiplier);
}

/** Writes a number in a message of its own: the duration of a status, or the multiplier of a limit. */
function writeWrapped(buffer: Uint8Array, offset: number, value: number): number {
  buffer[offset] = 0x22;
  return endField(buffer, offset + 2, writeNumber(buffer, offset + 2, 0x08, value));
}
