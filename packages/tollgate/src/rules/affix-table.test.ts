import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AffixTable } from "./affix-table.ts";

/** Few different characters, so that texts share prefixes and suffixes. The last one is a lone surrogate. */
const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "\ud83d"), maxLength: 8 });

for (const [name, of, holds] of [
  ["begins", AffixTable.ofPrefixes, (value: string, part: string) => value.startsWith(part)],
  ["ends", AffixTable.ofSuffixes, (value: string, part: string) => value.endsWith(part)],
] as const)
  test(`finds every text that a value ${name} with, the longest first`, () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), fc.array(text, { minLength: 1 }), (texts, values) => {
        const table = of(texts);
        assert.deepEqual(table.texts.toSorted(), [...new Set(texts)].sort());
        for (const value of [...values, ...texts.map((each) => `${each}a${each}`)]) {
          const found: string[] = [];
          for (let index = table.longest(value); index >= 0; index = table.shorter(index))
            found.push(table.texts[index]!);
          const expected = table.texts.filter((each) => holds(value, each));
          assert.deepEqual(
            found,
            expected.toSorted((a, b) => b.length - a.length),
          );
        }
      }),
    );
  });

test("thousands of nested texts are found without deep recursion", () => {
  const texts = Array.from({ length: 5000 }, (_, length) => "a".repeat(length));
  const table = AffixTable.ofPrefixes(texts);
  assert.equal(table.texts[table.longest("a".repeat(4999))]!.length, 4999);
  assert.equal(table.texts[table.longest(`${"a".repeat(700)}b`)]!.length, 700);
});
