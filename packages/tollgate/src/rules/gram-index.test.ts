import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { completed } from "./completed.ts";
import { bySpecificity, matches, parsePattern } from "./pattern.ts";
import { WildcardIndex } from "./wildcards.ts";

function indexOf(texts: readonly string[]) {
  return completed(WildcardIndex.make(texts.map((text) => ({ pattern: parsePattern(text), target: text }))));
}

const piece = fc.constantFrom("abc", "abd", "bca", "ab", "c", "abcabc", "xyz");
const pattern = fc
  .record({
    parts: fc.array(piece, { minLength: 1, maxLength: 3 }),
    prefix: fc.constantFrom("", "ab"),
    suffix: fc.constantFrom("", "c"),
  })
  .map(({ parts, prefix, suffix }) => `${prefix}*${parts.join("*")}*${suffix}`);

test("the index finds the same pattern as a comparison one by one, even if parts overlap", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(pattern, { minLength: 5, maxLength: 30 }),
      fc
        .array(fc.oneof(piece, fc.constantFrom("a", "b", "x")), { maxLength: 12 })
        .map((parts) => parts.join("")),
      (texts, value) => {
        const sorted = texts.map(parsePattern).toSorted(bySpecificity);
        assert.equal(indexOf(texts).find(value), sorted.find((one) => matches(one, value))?.text);
      },
    ),
    { numRuns: 2000 },
  );
});

/** Milliseconds, the least of several runs. */
function least(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    run();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}

function sumOf(value: string): number {
  let sum = 0;
  for (let index = 0; index < value.length; index++) sum = (sum + value.charCodeAt(index)) | 0;
  return sum;
}

for (const [name, texts, value] of [
  [
    "one text between two `*`",
    ["*admin*", "*login*", "*search*", "*upload*", "*api/v1*"],
    "adm".repeat(20_000),
  ],
  [
    "several texts",
    ["*q*admin*", "*q*login*", "*q*search*", "*q*upload*", "*q*api/v1*"],
    `q${"adm".repeat(20_000)}`,
  ],
] as const)
  test(`a value that repeats a run of a pattern is searched in linear time: ${name}`, () => {
    const index = indexOf(texts);
    assert.equal(index.find(value), undefined);
    // Comparing the whole value at each of the run's places took 20,000 times as long as reading it once.
    const ratio = least(() => index.find(value)) / least(() => sumOf(value));
    assert.ok(ratio < 500, `${ratio.toFixed(0)} times as long as reading the value once`);
  });

test("an index of many wildcards is made in many turns", () => {
  const texts = Array.from({ length: 3000 }, (_, number) => `/v${number % 9}/*/item-${number}/*`);
  const entries = texts.map((text) => ({ pattern: parsePattern(text), target: text }));
  const turns = WildcardIndex.make(entries);
  let count = 1;
  while (!turns.next().done) count++;
  assert.ok(count > 2 * (texts.length / 100), `${count} turns`);
});
