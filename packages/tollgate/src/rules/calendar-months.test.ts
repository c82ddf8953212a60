import assert from "node:assert/strict";
import { test } from "node:test";
import { loadResources, loadRules } from "./load-rules.ts";
import type { Rule } from "./rule.ts";

const options = { mergeDomains: false, calendarMonths: true };
const entries = [{ key: "k", value: "v" }];
const keyPartsOf = (rule: Rule | undefined) => rule?.limits?.map(({ keyPart }) => keyPart);

/** A limit, and the parts of its cache keys. Undefined if it stays a plain limit. */
const rows: readonly (readonly [limit: string, keyParts: readonly string[] | undefined])[] = [
  ["rate_limit: { unit: month, requests_per_unit: 1 }", ["calendar:month:UTC:"]],
  ["rate_limit: { unit: month, requests_per_unit: 1, unit_multiplier: 1 }", ["calendar:month:UTC:"]],
  ["rate_limit: { unit: month, requests_per_unit: 1, count: accepted }", ["calendar:month:UTC:"]],
  [
    "rate_limit: { unit: month, requests_per_unit: 1, calendar: { time_zone: Asia/Tokyo } }",
    ["calendar:month:Asia/Tokyo:"],
  ],
  ["rate_limit: { unit: month, requests_per_unit: 1, unit_multiplier: 3 }", ["fixed:7776000:"]],
  ["rate_limit: { unit: month, requests_per_unit: 1, algorithm: sliding_window }", ["sliding:2592000"]],
  ["rate_limit: { unit: month, requests_per_unit: 1, algorithm: token_bucket }", ["bucket:2592000"]],
  [
    "rate_limits: [{ unit: day, requests_per_unit: 1 }, { unit: month, requests_per_unit: 2 }]",
    ["day:", "calendar:month:UTC:"],
  ],
  ["rate_limit: { unit: year, requests_per_unit: 1 }", undefined],
  ["rate_limit: { unlimited: true }", undefined],
];

for (const [limit, keyParts] of rows)
  test(`calendar months: ${limit}`, () => {
    const text = `domain: d\ndescriptors: [{ key: k, ${limit} }]\n`;
    const { ruleSet } = loadRules([{ name: "rules.yaml", text }], options);
    assert.deepEqual(keyPartsOf(ruleSet?.match("d", entries)?.rule), keyParts);
  });

test("calendar months: below another level, and over xDS", () => {
  const rateLimit = { unit: 5, requestsPerUnit: 1 };
  const resource = {
    name: "r",
    domain: "d",
    descriptors: [{ key: "k", descriptors: [{ key: "l", rateLimit }] }],
  };
  const { ruleSet } = loadResources([resource], options);
  const rule = ruleSet?.match("d", [...entries, { key: "l", value: "v" }])?.rule;
  assert.deepEqual(keyPartsOf(rule), ["calendar:month:UTC:"]);
});
