import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { fileDescriptors, serviceNames } from "./file-descriptors.ts";

const files = fileDescriptors();

test("each file stands after all that it imports, once", () => {
  const seen = new Set<string>();
  for (const file of files) {
    for (const name of file.dependencies) assert.ok(seen.has(name), `${file.name} before ${name}`);
    assert.ok(!seen.has(file.name), `${file.name} twice`);
    seen.add(file.name);
  }
});

test("a client can build every served service from the bytes alone", () => {
  const parsed = files.map((file) => fromBinary(FileDescriptorProtoSchema, file.bytes));
  const registry = createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file: parsed });
  for (const name of serviceNames()) assert.ok(registry.getService(name), name);
  const service = registry.getService("envoy.service.ratelimit.v3.RateLimitService");
  assert.deepEqual(
    service?.methods.map((method) => [method.name, method.input.typeName, method.output.typeName]),
    [
      [
        "ShouldRateLimit",
        "envoy.service.ratelimit.v3.RateLimitRequest",
        "envoy.service.ratelimit.v3.RateLimitResponse",
      ],
    ],
  );
});

test("services, methods, nested messages and enums are found by their full names", () => {
  const owner = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file.name])));
  const rls = "envoy/service/ratelimit/v3/rls.proto";
  for (const [symbol, file] of [
    ["envoy.service.ratelimit.v3.RateLimitService", rls],
    ["envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit", rls],
    ["envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit", rls],
    ["envoy.type.v3.RateLimitUnit", "envoy/type/v3/ratelimit_unit.proto"],
    ["google.protobuf.Struct", "google/protobuf/struct.proto"],
    ["grpc.health.v1.Health.Watch", "grpc/health/v1/health.proto"],
    ["grpc.reflection.v1alpha.ServerReflection", "grpc/reflection/v1alpha/reflection.proto"],
  ])
    assert.equal(owner.get(symbol!), file, symbol);
});

/** The published numbers: a change here breaks every caller. */
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
  "envoy.service.ratelimit.v3.RateLimitResponse.RateLimit": { requests_per_unit: 1, unit: 2, name: 3 },
  "envoy.config.core.v3.HeaderValue": { key: 1, value: 2, raw_value: 3 },
  "grpc.health.v1.HealthCheckResponse": { status: 1 },
};

test("field numbers are the published ones", () => {
  const parsed = files.map((file) => fromBinary(FileDescriptorProtoSchema, file.bytes));
  const registry = createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file: parsed });
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
