import assert from "node:assert/strict";
import { test } from "node:test";
import { slotOf, slotOfWindow } from "./slots.ts";

/** Slots from `CLUSTER KEYSLOT` of redis-server 7.0. */
const cases: [string, number][] = [
  ["123456789", 12739],
  ["", 0],
  ["foo", 12182],
  ["{user1000}.following", 3443],
  ["{user1000}.followers", 3443],
  ["foo{}{bar}", 8363],
  ["foo{{bar}}zap", 4015],
  ["foo{bar}{zap}", 5061],
  ["é漢字", 6792],
];

for (const [key, slot] of cases)
  test(`slot of ${JSON.stringify(key)}`, () => assert.equal(slotOf(key), slot));

test("slotOfWindow agrees with slotOf", () => {
  for (const stem of ["", "a|k=v|hour:", "é|漢|", "{tag}|a|", "a{|b}", "x".repeat(300)])
    for (const start of [0, 60, 1_700_000_000]) assert.equal(slotOfWindow(stem, start), slotOf(stem + start));
});
