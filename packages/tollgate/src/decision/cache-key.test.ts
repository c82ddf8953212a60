import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import { cacheKeyStem, encodeKeyPart } from "./cache-key.ts";

const plain = { sharedValues: undefined };
const any = { cacheKeyPrefix: "", longestKey: Number.POSITIVE_INFINITY };

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
  [
    "bytes that are not UTF-8",
    "d\udcff",
    [["m\udcff\udcfe", "\u{1f600}\udc80"]],
    "d%FF|m%FF%FE=\u{1f600}%80|minute:",
  ],
  ["text that looks like such bytes", "d", [["k", "m%FF\\xFF"]], "d|k=m%25FF\\xFF|minute:"],
  [
    "white space beyond ASCII",
    "d",
    [["k", "\u00a0\u0085\u3000\ufeff"]],
    "d|k=%C2%A0%C2%85%E3%80%80%EF%BB%BF|minute:",
  ],
  ["other text is unchanged", "d", [["path", "/a/ü?x&y:z"]], "d|path=/a/ü?x&y:z|minute:"],
];
for (const [name, domain, entries, expected] of cases) {
  test(`cache key stem: ${name}`, () => {
    const list = entries.map(([key, value]) => ({ key, value }));
    assert.equal(cacheKeyStem(any, domain, list, plain, Unit.MINUTE), expected);
    assert.equal(
      cacheKeyStem({ ...any, cacheKeyPrefix: "p:" }, domain, list, plain, Unit.MINUTE),
      `p:${expected}`,
    );
  });
}

test("under share_threshold the key contains the pattern instead of the value", () => {
  const entries = [
    { key: "a", value: "v1" },
    { key: "b", value: "w" },
  ];
  assert.equal(
    cacheKeyStem(any, "d", entries, { sharedValues: ["v*", undefined] }, Unit.HOUR),
    "d|a=v*|b=w|hour:",
  );
});

test("different counters have different stems", () => {
  const text = fc.string({
    unit: fc.constantFrom(
      "a",
      "|",
      "=",
      "%",
      "2",
      "5",
      ":",
      " ",
      "7",
      "C",
      "_",
      "F",
      "\\",
      "x",
      "\udcff",
      "\udcc2",
      "\udc85",
      "\u0085",
      "\u{1f600}",
    ),
    maxLength: 4,
  });
  const place = fc.record({
    domain: text,
    entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
    unit: fc.constantFrom(Unit.SECOND, Unit.DAY),
  });
  /** Texts that decoding can produce: no sequence of escaped bytes is valid UTF-8. */
  const fromBytes = (of: { domain: string; entries: { key: string; value: string }[] }) =>
    [of.domain, ...of.entries.flatMap(({ key, value }) => [key, value])].every(
      (part) => !part.includes("\udcc2\udc85"),
    );
  fc.assert(
    fc.property(place.filter(fromBytes), place.filter(fromBytes), (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      const stem = (of: typeof one) => cacheKeyStem(any, of.domain, of.entries, plain, of.unit);
      assert.equal(stem(one) === stem(other), same);
    }),
    { numRuns: 2000 },
  );
});

describe("long keys", () => {
  const stemOf = (cacheKeyPrefix: string, value: string, longestKey = 250, unit: Unit = Unit.MINUTE) =>
    cacheKeyStem({ cacheKeyPrefix, longestKey }, "d", [{ key: "k", value }], plain, unit);
  const windowStart = "1700000000";

  test("keys one byte above the limit are hashed", () => {
    for (const longest of [250, 512])
      for (const [prefix, letter] of [
        ["", "x"],
        ["p:", "x"],
        ["{é}", "x"],
        ["", "é"],
        ["", "漢"],
        ["", " "],
      ] as const) {
        const bytes = (value: string) =>
          Buffer.byteLength(stemOf(prefix, value, Number.POSITIVE_INFINITY) + windowStart);
        let value = "";
        while (bytes(value + letter) <= longest) value += letter;
        while (bytes(value) < longest) value += "x";
        assert.equal(stemOf(prefix, value, longest), stemOf(prefix, value, Number.POSITIVE_INFINITY));
        const stem = stemOf("", `${value}x`, Number.POSITIVE_INFINITY);
        const digest = createHash("sha256").update(stem).digest("hex");
        assert.equal(stemOf(prefix, `${value}x`, longest), `${prefix}#${digest.slice(0, 32)}:minute:`);
      }
  });

  test("hashed keys of different values and units differ, and fit with the longest prefix", () => {
    const values = ["x".repeat(300), "y".repeat(300), `${"x".repeat(300)}y`, "x".repeat(1_000_000)];
    const stems = values.flatMap((value) => [
      stemOf("p", value),
      stemOf("p", value, 250, Unit.DAY),
      stemOf("q", value),
    ]);
    assert.equal(new Set(stems).size, stems.length);
    for (const stem of stems) assert.ok(stem.length < 50);
    assert.ok(Buffer.byteLength(stemOf("é".repeat(75), values[0]!) + windowStart) <= 250);
  });

  test("a hashed key never equals a key that is not hashed", () => {
    const hashed = stemOf("", "x".repeat(300));
    const [domain, ...rest] = hashed.split(":");
    assert.equal(rest.join(":"), "minute:");
    assert.notEqual(cacheKeyStem(any, hashed, [], plain, Unit.MINUTE), hashed);
    assert.notEqual(cacheKeyStem(any, domain!, [], plain, Unit.MINUTE), hashed);
  });
});
const reserved = /[%|={}\s\p{Cc}\p{Cs}]/u;

test("an encoded part has no character that a store or a cluster interprets", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(encodeKeyPart(text), /[|={}\s\p{Cc}\p{Cs}]/u);
      assert.equal(decodeURIComponent(encodeKeyPart(text.toWellFormed())), text.toWellFormed());
    }),
  );
});

test("reserved characters are encoded as by encodeURIComponent, all others are unchanged", () => {
  for (let point = 0; point <= 0x10ffff; point += point < 0x10000 ? 1 : 0xfff) {
    const character = String.fromCodePoint(point);
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const expected = reserved.test(character) ? encodeURIComponent(character) : character;
    // A reserved character before it makes the part take the slow path.
    assert.equal(encodeKeyPart(`=${character}`), `%3D${expected}`, point.toString(16));
  }
});
