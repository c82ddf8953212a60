import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../../../test/counters/conformance.ts";
import { hasTag } from "./ledger-keys.ts";

const cases: readonly (readonly [stem: string, isTagged: boolean])[] = [
  ["", false],
  ["a|k=v|hour:", false],
  ["{a}", true],
  ["a{b}c", true],
  ["a{}b}", false],
  ["{}{a}", false],
  ["a}{b", false],
  ["a{b", false],
  ["{{}", true],
  ["{", false],
];

for (const [stem, isTagged] of cases)
  test(`${JSON.stringify(stem)} has ${isTagged ? "a" : "no"} hash tag, as a text and in place`, () => {
    assert.equal(hasTag({ stem }), isTagged);
    // The bytes around the stem are no part of it.
    const bytes = Buffer.from(`{${stem}}`);
    assert.equal(hasTag({ stem: "", place: placeOf(bytes, 1, bytes.length - 1) }), isTagged);
  });
