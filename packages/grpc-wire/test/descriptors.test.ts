/** The descriptors of server reflection. `npm run generate -- --check` compares them with the protocol files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { descriptorSet } from "../src/services/gen/descriptor-set.ts";

test("the descriptors contain each service with its methods", () => {
  const set = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSet, "base64"));
  const registry = createFileRegistry(set);
  const methods = (name: string) => registry.getService(name)?.methods.map((method) => method.name);
  assert.deepEqual(methods("grpc.health.v1.Health"), ["Check", "List", "Watch"]);
  for (const version of ["v1", "v1alpha"])
    assert.deepEqual(methods(`grpc.reflection.${version}.ServerReflection`), ["ServerReflectionInfo"]);
});
