import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import { cacheKeyStem, encodeKeyPart } from "./cache-key.ts";

const plain = { sharedValues: undefined };

const cases: [string, string, [string, string][], string][] = [
  ["one entry", "d", [["k", "v"]], "d|k=v|minute:"],
  [
    "two entries",
    "d",
    [
      ["a", "b"],
      ["c", "d"],
    ],
    "d|a=b|c=d|minute:",
  ],
  ["an empty value", "d", [["k", ""]], "d|k=|minute:"],
  ["no entries (an override)", "d", [], "d|minute:"],
  ["separators", "a|b", [["k=", "v%"]], "a%7Cb|k%3D=v%25|minute:"],
  ["hash tags", "{d}", [["k", "{v}"]], "%7Bd%7D|k=%7Bv%7D|minute:"],
  ["white space and control", "d", [["k", "a b\n\u0000\u007f\u2028"]], "d|k=a%20b%0A%00%7F%E2%80%A8|minute:"],
  ["other text stays", "d", [["path", "/a/ü?x&y:z"]], "d|path=/a/ü?x&y:z|minute:"],
];
for (const [name, domain, entries, expected] of cases) {
  test(`cache key stem: ${name}`, () => {
    const list = entries.map(([key, value]) => ({ key, value }));
    assert.equal(cacheKeyStem("", domain, list, plain, Unit.MINUTE), expected);
    assert.equal(cacheKeyStem("p:", domain, list, plain, Unit.MINUTE), `p:${expected}`);
  });
}

test("under share_threshold the pattern stands in for the value", () => {
  const entries = [
    { key: "a", value: "v1" },
    { key: "b", value: "w" },
  ];
  assert.equal(
    cacheKeyStem("", "d", entries, { sharedValues: ["v*", undefined] }, Unit.HOUR),
    "d|a=v*|b=w|hour:",
  );
});

test("two different counters never share a stem", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "|", "=", "%", "2", "5", ":", " ", "7", "C", "_"),
    maxLength: 4,
  });
  const place = fc.record({
    domain: text,
    entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
    unit: fc.constantFrom(Unit.SECOND, Unit.DAY),
  });
  fc.assert(
    fc.property(place, place, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      const stem = (of: typeof one) => cacheKeyStem("", of.domain, of.entries, plain, of.unit);
      assert.equal(stem(one) === stem(other), same);
    }),
    { numRuns: 1000 },
  );
});

test("an encoded part has nothing left that a store or a cluster reads as its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(encodeKeyPart(text.toWellFormed()), /[|={}\s\p{Cc}]/u);
      assert.equal(decodeURIComponent(encodeKeyPart(text.toWellFormed())), text.toWellFormed());
    }),
  );
});
