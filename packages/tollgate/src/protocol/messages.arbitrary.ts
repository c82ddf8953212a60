import fc from "fast-check";
import type { JsonObject, RateLimitRequest, RateLimitResponse } from "./messages.ts";

/** Arbitrary requests and responses, for property tests of the codecs. */

/** Records have no null prototype, because the decoders create plain objects. */
const record = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(shape, { noNullPrototype: true });

const uint32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff }));
const text = fc
  .oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "binary", maxLength: 12 }))
  .map((raw) => raw.toWellFormed());

export const anyRequest: fc.Arbitrary<RateLimitRequest> = record({
  domain: text,
  hitsAddend: uint32,
  descriptors: fc.array(
    record({
      entries: fc.array(record({ key: text, value: text }), { maxLength: 4 }),
      limit: fc.option(
        record({
          requestsPerUnit: uint32,
          unit: fc.integer({ min: 0, max: 9 }),
          unitMultiplier: fc.option(uint32, { nil: undefined }),
        }),
        {
          nil: undefined,
        },
      ),
      hitsAddend: fc.option(fc.oneof(fc.nat(300), fc.maxSafeNat()), { nil: undefined }),
      isNegativeHits: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
});

const json = fc.letrec<{ value: fc.JsonValue; object: Record<string, fc.JsonValue> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    text,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(
    text.filter((key) => key !== "__proto__"),
    tie("value"),
    { maxKeys: 3, noNullPrototype: true },
  ),
}));

export const anyResponse: fc.Arbitrary<RateLimitResponse> = record({
  overallCode: fc.constantFrom(1, 2) as fc.Arbitrary<RateLimitResponse["overallCode"]>,
  statuses: fc.array(
    record({
      code: fc.constantFrom(1, 2) as fc.Arbitrary<RateLimitResponse["overallCode"]>,
      currentLimit: fc.option(
        record({
          requestsPerUnit: uint32,
          unit: fc.integer({ min: 1, max: 7 }) as fc.Arbitrary<1>,
          name: fc.oneof(text, fc.string({ unit: "binary", minLength: 40, maxLength: 140 })),
          unitMultiplier: fc.option(uint32, { nil: undefined }),
        }),
        { nil: undefined },
      ),
      limitRemaining: uint32,
      durationUntilReset: fc.oneof(fc.nat(60), fc.nat(31_536_000)),
    }),
    { maxLength: 4 },
  ),
  responseHeadersToAdd: fc.array(record({ key: text, value: text }), { maxLength: 3 }),
  dynamicMetadata: fc.option(json.object as fc.Arbitrary<JsonObject>, { nil: undefined }),
});
