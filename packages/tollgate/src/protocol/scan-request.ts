import {
  DEFAULT_REQUEST_LIMITS,
  type RequestLimits,
  tooManyDescriptors,
  tooManyEntries,
} from "./request-limits.ts";
import { skipField } from "./skip-field.ts";
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
const UNIT_MULTIPLIER = (3 << 3) | WireType.BYTES;
const WRAPPED = (1 << 3) | WireType.VARINT;

/** Numbers of an entry in {@link RequestPlaces.entries}: start and end of its key, start and end of its value. */
export const ENTRY_PLACES = 4;
/** Entries and descriptors for which the memory is kept. A message with more of them gets its own. */
const KEPT = 4096;

/** One descriptor of a message. */
export class DescriptorPlaces {
  /** Index of its first entry among those of the message, and their number. */
  firstEntry = 0;
  entries = 0;
  hasLimit = false;
  requestsPerUnit = 0;
  unit = 0;
  unitMultiplier: number | undefined = undefined;
  hitsAddend: number | undefined = undefined;
  isNegativeHits = false;
}

/** The places of a message's parts. The next scan overwrites it. */
export class RequestPlaces extends WireReader {
  domainStart = 0;
  domainEnd = 0;
  hitsAddend = 0;
  /** Only the first `count` belong to the message. */
  descriptors: DescriptorPlaces[] = [];
  count = 0;
  /** {@link ENTRY_PLACES} numbers for each entry. */
  entries = new Int32Array(64 * ENTRY_PLACES);
  #entries = 0;

  /**
   * Finds the parts of an `envoy.service.ratelimit.v3.RateLimitRequest` in `buffer[start..end)`. As protobuf specifies,
   * it skips unknown fields, uses the last of a repeated singular field, and merges the parts of a split message.
   * @throws {WireError} for bytes that are not such a message
   * @throws {OversizedRequestError} above `limits`
   */
  scan(buffer: Uint8Array, start: number, end: number, limits: RequestLimits = DEFAULT_REQUEST_LIMITS): void {
    this.reset(buffer, start, end);
    this.domainStart = this.domainEnd = this.hitsAddend = this.count = this.#entries = 0;
    if (this.descriptors.length > KEPT) this.descriptors = [];
    if (this.entries.length > KEPT * ENTRY_PLACES) this.entries = new Int32Array(64 * ENTRY_PLACES);
    while (this.position < end) {
      const tag = this.tag();
      if (tag === DESCRIPTORS) {
        if (this.count === limits.descriptors) throw tooManyDescriptors(limits);
        this.end = this.lengthDelimited();
        this.#descriptor(limits);
        this.end = end;
      } else if (tag === DOMAIN) {
        this.domainEnd = this.lengthDelimited();
        this.domainStart = this.position;
        this.position = this.domainEnd;
      } else if (tag === HITS_ADDEND) this.hitsAddend = this.uint32();
      else skipField(this, tag);
    }
  }

  /** Like the other functions for nested messages, reads up to `this.end`. */
  #descriptor(limits: RequestLimits): void {
    const { end } = this;
    const index = this.count++;
    if (index === this.descriptors.length) this.descriptors.push(new DescriptorPlaces());
    const descriptor = this.descriptors[index]!;
    descriptor.firstEntry = this.#entries;
    descriptor.entries = descriptor.requestsPerUnit = descriptor.unit = 0;
    descriptor.hasLimit = descriptor.isNegativeHits = false;
    descriptor.hitsAddend = descriptor.unitMultiplier = undefined;
    while (this.position < end) {
      const tag = this.tag();
      if (tag === ENTRIES) {
        if (descriptor.entries++ === limits.entries) throw tooManyEntries(limits, index);
        this.end = this.lengthDelimited();
        this.#entry();
      } else if (tag === LIMIT) {
        descriptor.hasLimit = true;
        this.end = this.lengthDelimited();
        this.#limit(descriptor);
      } else if (tag === DESCRIPTOR_HITS) {
        this.end = this.lengthDelimited();
        descriptor.hitsAddend = this.#wrapped(true) ?? descriptor.hitsAddend ?? 0;
      } else if (tag === IS_NEGATIVE) descriptor.isNegativeHits = this.bool();
      else skipField(this, tag);
      this.end = end;
    }
  }

  #entry(): void {
    const { end } = this;
    const at = this.#entries++ * ENTRY_PLACES;
    if (at === this.entries.length) {
      const grown = new Int32Array(2 * at);
      grown.set(this.entries);
      this.entries = grown;
    }
    const places = this.entries;
    places[at] = places[at + 1] = places[at + 2] = places[at + 3] = end;
    while (this.position < end) {
      const tag = this.tag();
      if (tag !== KEY && tag !== VALUE) {
        skipField(this, tag);
        continue;
      }
      const next = this.lengthDelimited();
      const which = tag === KEY ? at : at + 2;
      places[which] = this.position;
      places[which + 1] = next;
      this.position = next;
    }
  }

  #limit(descriptor: DescriptorPlaces): void {
    const { end } = this;
    while (this.position < end) {
      const tag = this.tag();
      if (tag === REQUESTS_PER_UNIT) descriptor.requestsPerUnit = this.uint32();
      // An enum is an int32 on the wire. A negative number is never a valid unit.
      else if (tag === UNIT) descriptor.unit = this.uint32() | 0;
      else if (tag === UNIT_MULTIPLIER) {
        this.end = this.lengthDelimited();
        descriptor.unitMultiplier = this.#wrapped(false) ?? descriptor.unitMultiplier ?? 0;
        this.end = end;
      } else skipField(this, tag);
    }
  }

  /** Reads a `google.protobuf.UInt64Value`, or a `UInt32Value`. Undefined if its number is absent. */
  #wrapped(isWide: boolean): number | undefined {
    const { end } = this;
    let value: number | undefined;
    while (this.position < end) {
      const tag = this.tag();
      if (tag === WRAPPED) value = isWide ? this.uint64() : this.uint32();
      else skipField(this, tag);
    }
    return value;
  }
}
