import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { descriptorSet } from "./gen/descriptor-set.ts";

const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, "base64"));

test("each file occurs once, after all files that it imports", () => {
  const seen = new Set<string>();
  for (const { name, dependency } of set.file) {
    for (const imported of dependency) assert.ok(seen.has(imported), `${name} before ${imported}`);
    assert.ok(!seen.has(name), `${name} twice`);
    seen.add(name);
  }
});

test("a client can build the rate limit service from the bytes alone", () => {
  const service = createFileRegistry(set).getService("envoy.service.ratelimit.v3.RateLimitService");
  assert.ok(service);
  const { methods } = service;
  assert.deepEqual(
    methods.map((method) => [method.name, method.input.typeName, method.output.typeName]),
    [
      [
        "ShouldRateLimit",
        "envoy.service.ratelimit.v3.RateLimitRequest",
        "envoy.service.ratelimit.v3.RateLimitResponse",
      ],
    ],
  );
});

/** The published numbers. A change breaks all callers. */
const numbers: Record<string, Record<string, number>> = {
  "envoy.service.ratelimit.v3.RateLimitRequest": { domain: 1, descriptors: 2, hits_addend: 3 },
  "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor": {
    entries: 1,
    limit: 2,
    hits_addend: 3,
    is_negative_hits: 4,
  },
  "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry": { key: 1, value: 2 },
  "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride": {
    requests_per_unit: 1,
    unit: 2,
    unit_multiplier: 3,
  },
  "envoy.service.ratelimit.v3.RateLimitResponse": {
    overall_code: 1,
    statuses: 2,
    response_headers_to_add: 3,
    request_headers_to_add: 4,
    raw_body: 5,
    dynamic_metadata: 6,
    quota: 7,
  },
  "envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus": {
    code: 1,
    current_limit: 2,
    limit_remaining: 3,
    duration_until_reset: 4,
    quota: 5,
  },
  "envoy.service.ratelimit.v3.RateLimitResponse.RateLimit": {
    requests_per_unit: 1,
    unit: 2,
    name: 3,
    unit_multiplier: 4,
  },
  "envoy.config.core.v3.HeaderValue": { key: 1, value: 2, raw_value: 3 },
};

test("field numbers are the published ones", () => {
  const registry = createFileRegistry(set);
  for (const [name, fields] of Object.entries(numbers)) {
    const message = registry.getMessage(name);
    assert.ok(message, name);
    assert.deepEqual(
      Object.fromEntries(message.fields.map((field) => [field.name, field.number])),
      fields,
      name,
    );
  }
});
