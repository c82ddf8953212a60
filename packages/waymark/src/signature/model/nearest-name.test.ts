import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { didYouMean, editDistance } from "./nearest-name.ts";

test("the edit distance counts a swap of neighbours as one", () => {
  const rows: [string, string, number][] = [
    ["explain", "explain", 0],
    ["explian", "explain", 1],
    ["explan", "explain", 1],
    ["explainn", "explain", 1],
    ["exqlain", "explain", 1],
    ["epxlian", "explain", 2],
    ["", "ab", 2],
    ["a", "", 1],
  ];
  for (const [one, other, distance] of rows) {
    assert.equal(editDistance(one, other, 3), distance, one);
    assert.equal(editDistance(other, one, 3), distance, other);
  }
});

test("a limit ends the count and does not change smaller distances", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (one, other, limit) => {
      const exact = editDistance(one, other, 100);
      const bounded = editDistance(one, other, limit);
      if (exact <= limit) assert.equal(bounded, exact);
      else assert.ok(bounded > limit);
    }),
  );
});

test("only the first faults of a request get a suggestion, and no long name does", () => {
  assert.equal(didYouMean("auhtor", ["title", "author"], 2), '; did you mean "author"?');
  assert.equal(didYouMean("auhtor", ["title", "author"], 3), "");
  assert.equal(didYouMean("a".repeat(65), ["a".repeat(64)], 0), "");
  assert.equal(didYouMean("x", ["y"], 0), "");
});
