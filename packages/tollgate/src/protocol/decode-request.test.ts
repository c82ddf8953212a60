import assert from "node:assert/strict";
import { test } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { decodeRequest } from "./decode-request.ts";
import { generatedRequest } from "./encode-request.ts";
import { RateLimitRequestSchema } from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { anyRequest } from "./messages.arbitrary.ts";
import type { LimitOverride, RateLimitRequest } from "./messages.ts";
import { WireError } from "./wire.ts";

function withProtobufEs(request: RateLimitRequest): Uint8Array {
  return toBinary(RateLimitRequestSchema, generatedRequest(request));
}

const decode = (bytes: Uint8Array) => decodeRequest(bytes, 0, bytes.length);

test("decodes messages of protobuf-es at any place in a buffer", () => {
  fc.assert(
    fc.property(anyRequest, fc.nat(5), (request, before) => {
      const message = withProtobufEs(request);
      const buffer = Buffer.concat([Buffer.alloc(before, 0xff), message, Buffer.alloc(3, 0xff)]);
      assert.deepEqual(decodeRequest(buffer, before, before + message.length), request);
    }),
    { numRuns: 500 },
  );
});

test("unknown fields are skipped at any place", () => {
  const unknown = fc
    .record({
      number: fc.integer({ min: 4, max: 5000 }),
      type: fc.constantFrom(0, 1, 2, 5),
      bytes: fc.uint8Array({ maxLength: 20 }),
    })
    .map(({ number, type, bytes }) => {
      const writer = new BinaryWriter().tag(number, type);
      if (type === 0) writer.uint64(BigInt(bytes.length) << 50n);
      else if (type === 1) writer.fixed64(1n);
      else if (type === 2) writer.bytes(bytes);
      else writer.fixed32(1);
      return writer.finish();
    });
  fc.assert(
    fc.property(
      anyRequest,
      fc.array(unknown, { maxLength: 3 }),
      fc.array(unknown, { maxLength: 3 }),
      (request, before, after) => {
        assert.deepEqual(decode(Buffer.concat([...before, withProtobufEs(request), ...after])), request);
      },
    ),
  );
});

test("arbitrary bytes are a request or a WireError", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .tuple(anyRequest, fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }))
      .map(([request, changes]) => {
        const message = withProtobufEs(request);
        for (const [at, byte] of changes) if (message.length > 0) message[at % message.length] = byte;
        return message;
      }),
  );
  fc.assert(
    fc.property(bytes, (message) => {
      try {
        const { domain, descriptors, hitsAddend } = decode(message);
        assert.ok(Number.isSafeInteger(hitsAddend) && Array.isArray(descriptors));
        assert.doesNotMatch(
          domain,
          /[\ud800-\udc7f\udd00-\udfff]/u,
          "every lone surrogate is an escaped byte",
        );
      } catch (error) {
        assert.ok(error instanceof WireError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

const malformed: [string, string, string][] = [
  ["a string longer than the message", "0a 05 61", "a field is longer than its message"],
  ["a nested message longer than its parent", "12 04 0a 05 61 62", "a field is longer than its message"],
  ["an endless number", "18 ff ff ff ff ff ff ff ff ff ff 01", "a number is longer than ten bytes"],
  ["a cut number", "18 ff", "the message ends inside a number"],
  ["field number 0", "00 01", "a field has the number 0"],
  ["wire type 6", "0e", "a field has the invalid wire type 6"],
  ["an unfinished group", "23 08 01", "the message ends inside a group"],
  ["a group end with another number", "23 2c", "a group end has no matching start"],
  ["a group end alone", "24", "a field has the invalid wire type 4"],
  ["a cut fixed number", "21 00 00", "the message ends inside a number"],
];
for (const [name, bytes, message] of malformed) {
  test(`malformed: ${name}`, () => assert.throws(() => decode(hex(bytes)), { name: "WireError", message }));
}

const withLimit = (limit: LimitOverride) => ({
  entries: [],
  limit,
  hitsAddend: undefined,
  isNegativeHits: false,
});

const readable: [string, string, Partial<RateLimitRequest>][] = [
  ["nothing", "", {}],
  ["the last of a repeated singular field", "0a 01 61 0a 01 62", { domain: "b" }],
  [
    "unknown fields of each type",
    "2a 01 00 30 01 3d 00000000 41 0000000000000000 4b 08 01 4c 0a 01 61",
    { domain: "a" },
  ],
  ["bytes that are not UTF-8", "0a 02 c3 28", { domain: "\udcc3(" }],
  [
    "such bytes in a key and a value, beside a real U+FFFD",
    "12 0c 0a 0a 0a 03 6d ff fe 12 03 ef bf bd",
    {
      descriptors: [
        {
          entries: [{ key: "m\udcff\udcfe", value: "\ufffd" }],
          limit: undefined,
          hitsAddend: undefined,
          isNegativeHits: false,
        },
      ],
    },
  ],
  ["a real U+FFFD", "0a 03 efbfbd", { domain: "\ufffd" }],
  ["a 64-bit number truncated to 32", "18 81 80 80 80 80 80 80 80 80 01", { hitsAddend: 1 }],
  [
    "a split limit that is merged",
    "12 08 12 02 08 05 12 02 10 02",
    { descriptors: [withLimit({ requestsPerUnit: 5, unit: 2, unitMultiplier: undefined })] },
  ],
  [
    "a split unit multiplier that is merged",
    "12 0c 12 04 1a 02 08 0f 12 04 1a 00 10 02",
    { descriptors: [withLimit({ requestsPerUnit: 0, unit: 2, unitMultiplier: 15 })] },
  ],
  [
    "an empty unit multiplier as 0",
    "12 04 12 02 1a 00",
    { descriptors: [withLimit({ requestsPerUnit: 0, unit: 0, unitMultiplier: 0 })] },
  ],
  [
    "a unit multiplier truncated to 32 bits",
    "12 0a 12 08 1a 06 08 8f 80 80 80 10",
    { descriptors: [withLimit({ requestsPerUnit: 0, unit: 0, unitMultiplier: 15 })] },
  ],
  [
    "an empty wrapper as 0",
    "12 02 1a 00",
    { descriptors: [{ entries: [], limit: undefined, hitsAddend: 0, isNegativeHits: false }] },
  ],
  [
    "hits above 2^53, which are capped",
    "12 0d 1a 0b 08 ff ff ff ff ff ff ff ff ff 01",
    {
      descriptors: [
        { entries: [], limit: undefined, hitsAddend: Number.MAX_SAFE_INTEGER, isNegativeHits: false },
      ],
    },
  ],
];
for (const [name, bytes, expected] of readable) {
  test(`decoded: ${name}`, () => {
    assert.deepEqual(decode(hex(bytes)), { domain: "", descriptors: [], hitsAddend: 0, ...expected });
  });
}
