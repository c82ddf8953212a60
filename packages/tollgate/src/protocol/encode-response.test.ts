import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { encodeResponse, maxResponseSize, writeResponse } from "./encode-response.ts";
import { RateLimitResponseSchema } from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { responseToJson } from "./json-response.ts";
import { anyResponse } from "./messages.arbitrary.ts";
import type { RateLimitResponse } from "./messages.ts";

function withProtobufEs(response: RateLimitResponse) {
  return create(RateLimitResponseSchema, {
    overallCode: response.overallCode,
    statuses: response.statuses.map(({ code, currentLimit, limitRemaining, durationUntilReset }) => ({
      code,
      limitRemaining,
      ...(currentLimit !== undefined && { currentLimit }),
      ...(durationUntilReset > 0 && { durationUntilReset: { seconds: BigInt(durationUntilReset) } }),
    })),
    responseHeadersToAdd: [...response.responseHeadersToAdd],
    ...(response.dynamicMetadata !== undefined && { dynamicMetadata: response.dynamicMetadata as never }),
  });
}

test("writes the same bytes as protobuf-es, at most as many as maxResponseSize returns", () => {
  fc.assert(
    fc.property(anyResponse, fc.nat(5), (response, offset) => {
      const expected = Buffer.from(toBinary(RateLimitResponseSchema, withProtobufEs(response)));
      assert.deepEqual(Buffer.from(encodeResponse(response)), expected);
      const size = maxResponseSize(response);
      assert.ok(expected.length <= size);
      const buffer = Buffer.alloc(offset + size + 1, 0xee);
      assert.equal(writeResponse(response, buffer, offset), offset + expected.length);
      assert.equal(buffer[offset + size], 0xee);
    }),
    { numRuns: 500 },
  );
});

test("a decoded response equals the encoded one, metadata included", () => {
  fc.assert(
    fc.property(anyResponse, (response) => {
      const read = fromBinary(RateLimitResponseSchema, encodeResponse(response));
      const metadata = read.dynamicMetadata;
      assert.equal(metadata === undefined, response.dynamicMetadata === undefined);
      if (metadata !== undefined) {
        assert.deepEqual(metadata, response.dynamicMetadata);
      }
    }),
  );
});

test("the JSON equals that of protobuf-es, apart from a limitRemaining of 0 under a limit", () => {
  fc.assert(
    fc.property(anyResponse, (response) => {
      const theirs = toJson(RateLimitResponseSchema, withProtobufEs(response)) as Record<string, unknown>;
      const statuses = (theirs.statuses ?? []) as Record<string, unknown>[];
      response.statuses.forEach(({ currentLimit, code, limitRemaining }, index) => {
        if (currentLimit !== undefined && code === 1 && limitRemaining === 0)
          statuses[index]!.limitRemaining = 0;
      });
      assert.deepEqual(JSON.parse(JSON.stringify(responseToJson(response))), theirs);
    }),
    { numRuns: 500 },
  );
});

test("the JSON text in full", () => {
  const limit = { requestsPerUnit: 1, unit: 2, name: "" } as const;
  const text = JSON.stringify(
    responseToJson({
      overallCode: 2,
      statuses: [
        { code: 2, currentLimit: limit, limitRemaining: 0, durationUntilReset: 55 },
        { code: 1, currentLimit: { ...limit, name: 'a"b' }, limitRemaining: 0, durationUntilReset: 55 },
        { code: 1, currentLimit: undefined, limitRemaining: 4_294_967_295, durationUntilReset: 0 },
        { code: 1, currentLimit: undefined, limitRemaining: 0, durationUntilReset: 0 },
      ],
      responseHeadersToAdd: [{ key: "RateLimit-Limit", value: "1" }],
      dynamicMetadata: { domain: "d" },
    }),
  );
  assert.equal(
    text,
    '{"overallCode":"OVER_LIMIT","statuses":[' +
      '{"code":"OVER_LIMIT","currentLimit":{"requestsPerUnit":1,"unit":"MINUTE"},"durationUntilReset":"55s"},' +
      '{"code":"OK","currentLimit":{"name":"a\\"b","requestsPerUnit":1,"unit":"MINUTE"},"limitRemaining":0,"durationUntilReset":"55s"},' +
      '{"code":"OK","limitRemaining":4294967295},{"code":"OK"}],' +
      '"responseHeadersToAdd":[{"key":"RateLimit-Limit","value":"1"}],"dynamicMetadata":{"domain":"d"}}',
  );
});
