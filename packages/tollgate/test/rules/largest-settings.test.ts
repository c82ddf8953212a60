/** The largest settings of limits. `fixtures/bad` has the first ones that are too large. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesOf } from "./helpers.ts";

const limits: readonly string[] = [
  "unit: second, unit_multiplier: 315_360_000, requests_per_unit: 5",
  "unit: minute, unit_multiplier: 5_256_000, requests_per_unit: 5, count: accepted",
  "unit: hour, unit_multiplier: 87_600, requests_per_unit: 5, algorithm: sliding_window",
  "unit: day, unit_multiplier: 3650, requests_per_unit: 5, algorithm: token_bucket",
  "unit: week, unit_multiplier: 521, requests_per_unit: 5",
  "unit: month, unit_multiplier: 121, requests_per_unit: 5",
  "unit: year, unit_multiplier: 10, requests_per_unit: 5",
  "unit: day, requests_per_unit: 9007199254740991",
  "unit: day, requests_per_unit: 9007199254740991, algorithm: sliding_window",
  "unit: day, requests_per_unit: 1_000_000_000, algorithm: token_bucket",
  "unit: day, requests_per_unit: 1, algorithm: token_bucket, burst: 1_000_000_000",
  ...["day", "week", "month", "year"].map((unit) => `unit: ${unit}, requests_per_unit: 5, calendar: {}`),
];

for (const limit of limits)
  test(`a limit may have ${limit}`, () => {
    const rules = rulesOf(`{ domain: d, descriptors: [{ key: k, rate_limit: { ${limit} } }] }`);
    assert.equal(rules.match("d", [{ key: "k", value: "v" }])?.rule.limits?.length, 1);
  });

test("a list may have 8 limits", () => {
  const items = [1, 2, 3, 4, 5, 6, 7, 8].map((minutes) => {
    return `{ unit: minute, unit_multiplier: ${minutes}, requests_per_unit: 5 }`;
  });
  const rules = rulesOf(`{ domain: d, descriptors: [{ key: k, rate_limits: [${items.join(", ")}] }] }`);
  assert.equal(rules.match("d", [{ key: "k", value: "v" }])?.rule.limits?.length, 8);
});
