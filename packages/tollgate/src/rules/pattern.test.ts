import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { covers, matches, overlap, parsePattern } from "./pattern.ts";

/** pattern | value | whether it matches */
const rows: readonly (readonly [string, string, boolean])[] = [
  ["*", "", true],
  ["*", "x", true],
  ["a*", "a", true],
  ["a*", "ab", true],
  ["a*", "ba", false],
  ["*a", "ba", true],
  ["*a", "ab", false],
  ["a*a", "aa", true],
  ["a*a", "a", false],
  ["a*b*c", "abc", true],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "acb", false],
  ["a*b*b", "ab", false],
  ["a*bc*cd", "abcd", false],
  ["a*bc*cd", "abccd", true],
  ["**", "", true],
  ["a**b", "ab", true],
  ["*aa*aa*", "aaa", false],
  ["*aa*aa*", "aaaa", true],
  ["*.*", "a.b", true],
  ["*.*", "ab", false],
  ["a*\n", "a\n\n", true],
];

for (const [pattern, value, expected] of rows) {
  test(`${JSON.stringify(pattern)} ${expected ? "matches" : "does not match"} ${JSON.stringify(value)}`, () => {
    assert.equal(matches(parsePattern(pattern), value), expected);
  });
}

const patterns = fc
  .string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 6 })
  .map(parsePattern);
const values = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });

test("a pattern that covers another matches all values of the other", () => {
  fc.assert(
    fc.property(patterns, patterns, values, (outer, inner, value) => {
      if (covers(outer, inner) && matches(inner, value)) assert.ok(matches(outer, value));
    }),
    { numRuns: 2000 },
  );
});

test("patterns that do not overlap have no value in common", () => {
  fc.assert(
    fc.property(patterns, patterns, values, (a, b, value) => {
      if (matches(a, value) && matches(b, value)) assert.ok(overlap(a, b));
    }),
    { numRuns: 2000 },
  );
});
