import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { DiscoveryRequestSchema } from "../protocol/gen/envoy/service/discovery/v3/discovery_pb.ts";
import {
  RateLimitConfigSchema,
  type RateLimitUnit,
} from "../protocol/gen/ratelimit/config/ratelimit/v3/rls_conf_pb.ts";
import { formatDiagnostic } from "../rules/diagnostic.ts";
import { loadResources } from "../rules/load-rules.ts";
import { decodeResources, decodeResponse, encodeRequest, TYPE_URL } from "./xds-messages.ts";

test("the requested type is the published type", () => {
  assert.equal(TYPE_URL, "type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig");
});

test("a long refusal is truncated", () => {
  const bytes = encodeRequest({ version: "v", nonce: "n", refusal: "x".repeat(1_000_000) });
  const { errorDetail } = fromBinary(DiscoveryRequestSchema, bytes);
  assert.equal(errorDetail?.message.length, 16_384 + 3);
});

/** Almost valid resources: serialized resources with a changed byte and trailing bytes. */
const almostValid = fc
  .tuple(
    fc.array(fc.tuple(fc.string(), fc.string(), fc.nat(9), fc.nat(), fc.boolean()), { maxLength: 4 }),
    fc.uint8Array({ maxLength: 20 }),
    fc.nat(),
    fc.nat(255),
  )
  .map(([rows, tail, at, byte]) => {
    const message = create(RateLimitConfigSchema, {
      name: rows[0]?.[0] ?? "",
      domain: rows[0]?.[1] ?? "",
      descriptors: rows.map(([key, value, unit, requestsPerUnit, unlimited]) => ({
        key,
        value,
        rateLimit: {
          unit: unit as RateLimitUnit,
          requestsPerUnit,
          unlimited,
          name: value,
          replaces: [{ name: key }],
        },
        metadata: { [key]: [value, null, unit] },
      })),
    });
    const bytes = Uint8Array.of(...toBinary(RateLimitConfigSchema, message), ...tail);
    if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });

test("any bytes as a resource either load or give a diagnostic", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(almostValid, fc.uint8Array({ maxLength: 60 })), { maxLength: 3 }),
      (values) => {
        const any = values.map((value) => ({
          $typeName: "google.protobuf.Any" as const,
          typeUrl: TYPE_URL,
          value,
        }));
        const { resources, diagnostics } = decodeResources(any);
        const loaded = loadResources(resources, { mergeDomains: false });
        for (const diagnostic of [...diagnostics, ...loaded.diagnostics])
          assert.ok(formatDiagnostic(diagnostic).length > 0);
        assert.equal(
          loaded.ruleSet === undefined,
          loaded.diagnostics.some(({ severity }) => severity === "error"),
        );
      },
    ),
    { numRuns: 1000 },
  );
});

test("any bytes as a response either decode or throw an Error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeResponse(bytes);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
    { numRuns: 1000 },
  );
});
