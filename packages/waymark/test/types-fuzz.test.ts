import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzTypes } from "../fuzz/type-fuzzer.ts";

// `npm run fuzz:types` tries more.
test("Waymark accepts no value that TypeScript refuses, and the reader agrees with the compiler", () => {
  const { faults, pairs, accepted, readBySource } = fuzzTypes(20_261_122, 4_000);
  assert.deepEqual(faults, []);
  assert.equal(pairs, 4_000);
  assert.ok(accepted > 1_000, `only ${accepted} were accepted`);
  assert.ok(readBySource > 50, `the reader of the source read only ${readBySource} types`);
});
