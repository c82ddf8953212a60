import type { Descriptor, Entry, LimitOverride, RateLimitRequest } from "./messages.ts";
import { WireReader, WireType } from "./wire.ts";

// number << 3 | wire type, of the fields that a decision reads.
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
 * Decodes an `envoy.service.ratelimit.v3.RateLimitRequest` from `buffer[start..end)`. Unknown fields are passed
 * over, the last of a repeated single field wins, parts of a split message are merged, as protobuf says.
 * @throws {WireError} for bytes that are no such message
 */
export function decodeRequest(buffer: Uint8Array, start: number, end: number): RateLimitRequest {
  reader.reset(buffer, start, end);
  let domain = "";
  let hitsAddend = 0;
  const descriptors: Descriptor[] = [];
  while (reader.position < end) {
    const tag = reader.tag();
    if (tag === DESCRIPTORS) descriptors.push(within(decodeDescriptor));
    else if (tag === DOMAIN) domain = reader.string();
    else if (tag === HITS_ADDEND) hitsAddend = reader.uint32();
    else reader.skip(tag);
  }
  return { domain, descriptors, hitsAddend };
}

/** Reads a nested message with its own end, and gives the outer end back. */
function within<T>(decode: () => T): T {
  const inner = reader.lengthDelimited();
  const outer = reader.end;
  reader.end = inner;
  const message = decode();
  reader.end = outer;
  return message;
}

function decodeDescriptor(): Descriptor {
  const entries: Entry[] = [];
  let limit: LimitOverride | undefined;
  let hitsAddend: number | undefined;
  let isNegativeHits = false;
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === ENTRIES) entries.push(within(decodeEntry));
    else if (tag === LIMIT) {
      const before = limit;
      limit = within(() => decodeLimit(before));
    } else if (tag === DESCRIPTOR_HITS) hitsAddend = within(decodeWrapped) ?? hitsAddend ?? 0;
    else if (tag === IS_NEGATIVE) isNegativeHits = reader.bool();
    else reader.skip(tag);
  }
  return { entries, limit, hitsAddend, isNegativeHits };
}

function decodeEntry(): Entry {
  let key = "";
  let value = "";
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === KEY) key = reader.string();
    else if (tag === VALUE) value = reader.string();
    else reader.skip(tag);
  }
  return { key, value };
}

function decodeLimit(before: LimitOverride | undefined): LimitOverride {
  let requestsPerUnit = before?.requestsPerUnit ?? 0;
  let unit = before?.unit ?? 0;
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === REQUESTS_PER_UNIT) requestsPerUnit = reader.uint32();
    // An enum is an int32 on the wire; a negative one is no unit either way.
    else if (tag === UNIT) unit = reader.uint32() | 0;
    else reader.skip(tag);
  }
  return { requestsPerUnit, unit };
}

/** The number in a `google.protobuf.UInt64Value`; undefined where it is not written. */
function decodeWrapped(): number | undefined {
  let value: number | undefined;
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === WRAPPED) value = reader.uint64();
    else reader.skip(tag);
  }
  return value;
}
