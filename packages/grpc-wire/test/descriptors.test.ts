/** The committed descriptors of health and reflection are what the protocol files give. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { committed, generate } from "../proto/generate.ts";
import { descriptorSet } from "../src/services/gen/descriptor-set.ts";

test("the committed descriptors are what the protocol files give: npm run generate -w packages/grpc-wire", () => {
  const folder = mkdtempSync(join(tmpdir(), "grpc-wire-proto-"));
  try {
    const fresh = join(folder, "descriptor-set.ts");
    generate(fresh);
    assert.equal(readFileSync(committed, "utf8"), readFileSync(fresh, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the descriptors hold each service with its methods", () => {
  const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, "base64"));
  const registry = createFileRegistry(set);
  const methods = (name: string) => registry.getService(name)?.methods.map((method) => method.name);
  assert.deepEqual(methods("grpc.health.v1.Health"), ["Check", "List", "Watch"]);
  for (const version of ["v1", "v1alpha"])
    assert.deepEqual(methods(`grpc.reflection.${version}.ServerReflection`), ["ServerReflectionInfo"]);
});
