import type { Descriptor, Entry, LimitOverride, RateLimitRequest } from "./messages.ts";
import {
  DEFAULT_REQUEST_LIMITS,
  type RequestLimits,
  tooManyDescriptors,
  tooManyEntries,
} from "./request-limits.ts";
import { WireReader, WireType } from "./wire.ts";

// Tags (number << 3 | wire type) of the fields that a decision reads.
const DOMAIN = (1 << 3) | WireType.BYTES;
const DESCRIPTORS = (2 << 3) | WireType.BYTES;
const HITS_ADDEND = (3 << 3) | WireType.VARINT;
const ENTRIES = (1 << 3) | WireType.BYTES;
const LIMIT = (2 << 3) | WireType.BYTES;
const DESCRIPTOR_HITS = (3 << 3) | WireType.BYTES;
const IS_NEGATIVE = (4 << 3) | WireType.VARINT;
const KEY = (1 << 3) | WireType.BYTES;
const VALUE = (2 << 3) | WireType.BYTES;
const REQUESTS_PER_UNIT = (1 << 3) | WireType.VARINT;
const UNIT = (2 << 3) | WireType.VARINT;
const WRAPPED = (1 << 3) | WireType.VARINT;

const reader = new WireReader();

/**
 * Decodes an `envoy.service.ratelimit.v3.RateLimitRequest` from `buffer[start..end)`. As protobuf specifies, it skips
 * unknown fields, uses the last of a repeated singular field, and merges the parts of a split message. It allocates
 * nothing for a field that a later one replaces, so a message of many such fields costs no more than a valid one.
 * @throws {WireError} for bytes that are not such a message
 * @throws {OversizedRequestError} above `limits`
 */
export function decodeRequest(
  buffer: Uint8Array,
  start: number,
  end: number,
  limits: RequestLimits = DEFAULT_REQUEST_LIMITS,
): RateLimitRequest {
  reader.reset(buffer, start, end);
  let domainStart = 0;
  let domainEnd = 0;
  let hitsAddend = 0;
  const descriptors: Descriptor[] = [];
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === DESCRIPTORS) {
      if (descriptors.length === limits.descriptors) throw tooManyDescriptors(limits);
      const inner = reader.lengthDelimited();
      reader.end = inner;
      descriptors.push(decodeDescriptor(limits, descriptors.length));
      reader.end = end;
    } else if (tag === DOMAIN) {
      domainEnd = reader.lengthDelimited();
      domainStart = reader.position;
      reader.position = domainEnd;
    } else if (tag === HITS_ADDEND) hitsAddend = reader.uint32();
    else reader.skip(tag);
  }
  return { domain: reader.text(domainStart, domainEnd), descriptors, hitsAddend };
}

/** Like the other functions for nested messages, reads up to `reader.end`. */
function decodeDescriptor(limits: RequestLimits, index: number): Descriptor {
  const { end } = reader;
  const entries: Entry[] = [];
  let limit: { -readonly [Field in keyof LimitOverride]: LimitOverride[Field] } | undefined;
  let hitsAddend: number | undefined;
  let isNegativeHits = false;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === ENTRIES) {
      if (entries.length === limits.entries) throw tooManyEntries(limits, index);
      reader.end = reader.lengthDelimited();
      entries.push(decodeEntry());
    } else if (tag === LIMIT) {
      limit ??= { requestsPerUnit: 0, unit: 0 };
      reader.end = reader.lengthDelimited();
      decodeLimit(limit);
    } else if (tag === DESCRIPTOR_HITS) {
      reader.end = reader.lengthDelimited();
      hitsAddend = decodeWrapped() ?? hitsAddend ?? 0;
    } else if (tag === IS_NEGATIVE) isNegativeHits = reader.bool();
    else reader.skip(tag);
    reader.end = end;
  }
  return { entries, limit, hitsAddend, isNegativeHits };
}

function decodeEntry(): Entry {
  const { end } = reader;
  let keyStart = 0;
  let keyEnd = 0;
  let valueStart = 0;
  let valueEnd = 0;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === KEY) {
      keyEnd = reader.lengthDelimited();
      keyStart = reader.position;
      reader.position = keyEnd;
    } else if (tag === VALUE) {
      valueEnd = reader.lengthDelimited();
      valueStart = reader.position;
      reader.position = valueEnd;
    } else reader.skip(tag);
  }
  return { key: reader.text(keyStart, keyEnd), value: reader.text(valueStart, valueEnd) };
}

function decodeLimit(limit: { requestsPerUnit: number; unit: number }): void {
  const { end } = reader;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === REQUESTS_PER_UNIT) limit.requestsPerUnit = reader.uint32();
    // An enum is an int32 on the wire. A negative number is never a valid unit.
    else if (tag === UNIT) limit.unit = reader.uint32() | 0;
    else reader.skip(tag);
  }
}

/** Reads a `google.protobuf.UInt64Value`. Undefined if its number is absent. */
function decodeWrapped(): number | undefined {
  const { end } = reader;
  let value: number | undefined;
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === WRAPPED) value = reader.uint64();
    else reader.skip(tag);
  }
  return value;
}
