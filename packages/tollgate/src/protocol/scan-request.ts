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
export class RequestPlaces {
  readonly #reader = new WireReader();
  buffer: Uint8Array = new Uint8Array(0);
  /** The message in `buffer`. */
  start = 0;
  end = 0;
  domainStart = 0;
  domainEnd = 0;
  hitsAddend = 0;
  /** Only the first `count` belong to the message. */
  descriptors: DescriptorPlaces[] = [];
  count = 0;
  /** {@link ENTRY_PLACES} numbers for each entry. */
  entries = new Int32Array(64 * ENTRY_PLACES);
  #entries = 0;

  /** Decodes the bytes from `start` to `end`. See {@link WireReader.text}. */
  text(start: number, end: number): string {
    return this.#reader.text(start, end);
  }

  /**
   * Finds the parts of an `envoy.service.ratelimit.v3.RateLimitRequest` in `buffer[start..end)`. As protobuf specifies,
   * it skips unknown fields, uses the last of a repeated singular field, and merges the parts of a split message.
   * @throws {WireError} for bytes that are not such a message
   * @throws {OversizedRequestError} above `limits`
   */
  scan(buffer: Uint8Array, start: number, end: number, limits: RequestLimits = DEFAULT_REQUEST_LIMITS): void {
    const reader = this.#reader;
    reader.reset(buffer, start, end);
    this.buffer = buffer;
    this.start = start;
    this.end = end;
    this.domainStart = this.domainEnd = this.hitsAddend = this.count = this.#entries = 0;
    if (this.descriptors.length > KEPT) this.descriptors = [];
    if (this.entries.length > KEPT * ENTRY_PLACES) this.entries = new Int32Array(64 * ENTRY_PLACES);
    while (reader.position < end) {
      const tag = reader.tag();
      if (tag === DESCRIPTORS) {
        if (this.count === limits.descriptors) throw tooManyDescriptors(limits);
        reader.end = reader.lengthDelimited();
        this.#descriptor(limits);
        reader.end = end;
      } else if (tag === DOMAIN) {
        this.domainEnd = reader.lengthDelimited();
        this.domainStart = reader.position;
        reader.position = this.domainEnd;
      } else if (tag === HITS_ADDEND) this.hitsAddend = reader.uint32();
      else reader.skip(tag);
    }
  }

  /** Like the other functions for nested messages, reads up to `reader.end`. */
  #descriptor(limits: RequestLimits): void {
    const reader = this.#reader;
    const { end } = reader;
    const index = this.count++;
    if (index === this.descriptors.length) this.descriptors.push(new DescriptorPlaces());
    const descriptor = this.descriptors[index]!;
    descriptor.firstEntry = this.#entries;
    descriptor.entries = descriptor.requestsPerUnit = descriptor.unit = 0;
    descriptor.hasLimit = descriptor.isNegativeHits = false;
    descriptor.hitsAddend = descriptor.unitMultiplier = undefined;
    while (reader.position < end) {
      const tag = reader.tag();
      if (tag === ENTRIES) {
        if (descriptor.entries++ === limits.entries) throw tooManyEntries(limits, index);
        reader.end = reader.lengthDelimited();
        this.#entry();
      } else if (tag === LIMIT) {
        descriptor.hasLimit = true;
        reader.end = reader.lengthDelimited();
        this.#limit(descriptor);
      } else if (tag === DESCRIPTOR_HITS) {
        reader.end = reader.lengthDelimited();
        descriptor.hitsAddend = this.#wrapped(true) ?? descriptor.hitsAddend ?? 0;
      } else if (tag === IS_NEGATIVE) descriptor.isNegativeHits = reader.bool();
      else reader.skip(tag);
      reader.end = end;
    }
  }

  #entry(): void {
    const reader = this.#reader;
    const { end } = reader;
    const at = this.#entries++ * ENTRY_PLACES;
    if (at === this.entries.length) {
      const grown = new Int32Array(2 * at);
      grown.set(this.entries);
      this.entries = grown;
    }
    const places = this.entries;
    places[at] = places[at + 1] = places[at + 2] = places[at + 3] = end;
    while (reader.position < end) {
      const tag = reader.tag();
      if (tag !== KEY && tag !== VALUE) {
        reader.skip(tag);
        continue;
      }
      const next = reader.lengthDelimited();
      const which = tag === KEY ? at : at + 2;
      places[which] = reader.position;
      places[which + 1] = next;
      reader.position = next;
    }
  }

  #limit(descriptor: DescriptorPlaces): void {
    const reader = this.#reader;
    const { end } = reader;
    while (reader.position < end) {
      const tag = reader.tag();
      if (tag === REQUESTS_PER_UNIT) descriptor.requestsPerUnit = reader.uint32();
      // An enum is an int32 on the wire. A negative number is never a valid unit.
      else if (tag === UNIT) descriptor.unit = reader.uint32() | 0;
      else if (tag === UNIT_MULTIPLIER) {
        reader.end = reader.lengthDelimited();
        descriptor.unitMultiplier = this.#wrapped(false) ?? descriptor.unitMultiplier ?? 0;
        reader.end = end;
      } else reader.skip(tag);
    }
  }

  /** Reads a `google.protobuf.UInt64Value`, or a `UInt32Value`. Undefined if its number is absent. */
  #wrapped(isWide: boolean): number | undefined {
    const reader = this.#reader;
    const { end } = reader;
    let value: number | undefined;
    while (reader.position < end) {
      const tag = reader.tag();
      if (tag === WRAPPED) value = isWide ? reader.uint64() : reader.uint32();
      else reader.skip(tag);
    }
    return value;
  }
}
