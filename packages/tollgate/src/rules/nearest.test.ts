import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldNames } from "./fields.ts";
import { nearest } from "./nearest.ts";

/** written | meant */
const slips: readonly (readonly [string, string | undefined])[] = [
  ["rate_limt", "rate_limit"],
  ["rateLimit", "rate_limit"],
  ["rate-limit", "rate_limit"],
  ["RATE_LIMIT", "rate_limit"],
  ["ratelimits", "rate_limits"],
  ["kye", "key"],
  ["keys", "key"],
  ["Value", "value"],
  ["vlaue", "value"],
  ["descriptor", "descriptors"],
  ["requestsPerUnit", "requests_per_unit"],
  ["requests_per_minute", "requests_per_unit"],
  ["shadow", undefined],
  ["x", undefined],
  ["", undefined],
  ["completely_different", undefined],
  ["k".repeat(10_000), undefined],
];

for (const [written, meant] of slips) {
  test(`nearest to "${written.slice(0, 30)}" is ${meant}`, () =>
    assert.equal(nearest(written, fieldNames), meant));
}

test("every name is nearest to itself", () => {
  for (const name of fieldNames) assert.equal(nearest(name, fieldNames), name);
});
