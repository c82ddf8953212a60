/** Bytes of `envoy.service.ratelimit.v3.RateLimitRequest`, valid or not. Texts may be any bytes, not only UTF-8. */
import fc from "fast-check";

/** A request within the documented limits, and the number of its descriptors. */
export interface ValidRequest {
  readonly bytes: Buffer;
  readonly descriptors: number;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) {
      bytes.push(Number(rest));
      return Buffer.from(bytes);
    }
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

const key = (field: number, wireType: number) => varint(BigInt(field * 8 + wireType));

export function lengthDelimited(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([key(field, 2), varint(BigInt(bytes.length)), bytes]);
}

export function varintField(field: number, value: bigint): Buffer {
  return Buffer.concat([key(field, 0), varint(value)]);
}

const uint32 = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 0xffff_ffffn));
const uint64 = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 64n - 1n));

/** A small set of texts, so that counters repeat; some are arbitrary bytes. */
const text = fc.oneof(
  fc.constantFrom("user", "path", "tenant", "k", "*", "a|b=c%").map((name) => Buffer.from(name)),
  fc.string({ maxLength: 20 }).map((name) => Buffer.from(name)),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.nat(255), fc.nat(4000)).map(([byte, length]) => Buffer.alloc(length, byte)),
);

const entry = fc
  .tuple(text, text)
  .map(([name, value]) => Buffer.concat([lengthDelimited(1, name), lengthDelimited(2, value)]));

const override = fc
  .tuple(uint32, fc.bigInt(1n, 7n))
  .map(([limit, unit]) => Buffer.concat([varintField(1, limit), varintField(2, unit)]));

const descriptor = fc
  .record({
    entries: fc.oneof(
      { weight: 5, arbitrary: fc.array(entry, { minLength: 1, maxLength: 3 }) },
      { weight: 1, arbitrary: fc.array(entry, { minLength: 1, maxLength: 32 }) },
    ),
    limit: fc.option(override),
    hits: fc.option(uint64),
    negative: fc.boolean(),
  })
  .map(({ entries, limit, hits, negative }) =>
    Buffer.concat([
      ...entries.map((each) => lengthDelimited(1, each)),
      ...(limit === null ? [] : [lengthDelimited(2, limit)]),
      ...(hits === null ? [] : [lengthDelimited(3, varintField(1, hits))]),
      ...(negative ? [varintField(4, 1n)] : []),
    ]),
  );

const domain = fc.oneof(
  { weight: 4, arbitrary: fc.constant(Buffer.from("fuzz")) },
  { weight: 1, arbitrary: text.filter(({ length }) => length > 0) },
);

/** The service's default limit on the size of a message. */
const MAX_REQUEST_BYTES = 256 * 1024;

export const validRequests: fc.Arbitrary<ValidRequest> = fc
  .record({
    domain,
    descriptors: fc.oneof(
      { weight: 5, arbitrary: fc.array(descriptor, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(descriptor, { minLength: 1, maxLength: 100 }) },
    ),
    hits: fc.option(uint32),
  })
  .map((fields) => {
    const descriptors = fields.descriptors.map((each) => lengthDelimited(2, each));
    return {
      bytes: Buffer.concat([
        lengthDelimited(1, fields.domain),
        ...descriptors,
        ...(fields.hits === null ? [] : [varintField(3, fields.hits)]),
      ]),
      descriptors: descriptors.length,
    };
  })
  .filter(({ bytes }) => bytes.length <= MAX_REQUEST_BYTES);

/** Requests above every limit, wrong numbers and lengths, and bytes that are not a message. */
export const hostileRequests: fc.Arbitrary<Buffer> = fc.oneof(
  validRequests.chain(({ bytes }) =>
    fc.tuple(fc.nat(bytes.length), fc.uint8Array({ maxLength: 8 })).map(([at, patch]) => {
      const broken = Buffer.from(bytes);
      broken.set(patch.slice(0, Math.max(0, broken.length - at)), at);
      return broken;
    }),
  ),
  fc.nat(50_000).map((count) => {
    const empty = lengthDelimited(2, Buffer.alloc(0));
    return Buffer.concat([lengthDelimited(1, Buffer.from("fuzz")), ...Array(count).fill(empty)]);
  }),
  fc.nat(20_000).map((count) => {
    const one = lengthDelimited(1, Buffer.concat([lengthDelimited(1, Buffer.from("k"))]));
    return Buffer.concat([
      lengthDelimited(1, Buffer.from("fuzz")),
      lengthDelimited(2, Buffer.concat(Array(count).fill(one))),
    ]);
  }),
  fc.nat(1_000_000).map((length) => lengthDelimited(1, Buffer.alloc(length, 0x64))),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
);
