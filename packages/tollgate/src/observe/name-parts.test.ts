import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { boundedKey, boundedText, identityOf } from "./name-parts.ts";
import { cut, cutParts, MAX_NAME_BYTES, sanitise } from "./names.ts";

/** Texts with lengths around the bound and with all characters that names treat specially. */
const unit = fc.constantFrom("a", "é", "€", "😀", "\ud800", "\0", ":", ".", "1", "12.34.56.78", "\u2028");
const long = fc
  .tuple(
    fc.integer({ min: 0, max: 600 }),
    fc.array(unit, { maxLength: 40 }),
    fc.integer({ min: 0, max: 600 }),
  )
  .map(([before, middle, after]) => "x".repeat(before) + middle.join("") + "y".repeat(after));
const text = fc.oneof(
  long,
  fc.array(unit, { maxLength: 6 }).map((units) => units.join("")),
);

const nameOf = (parts: readonly string[]) => cutParts(parts.map(sanitise), MAX_NAME_BYTES);

describe("the kept part of a name", () => {
  it("produces the same name as the whole text", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const kept = boundedText(whole);
        assert.equal(cut(sanitise(kept), MAX_NAME_BYTES), cut(sanitise(whole), MAX_NAME_BYTES));
        assert.ok(kept.length <= MAX_NAME_BYTES + 16);
      }),
    );
  });

  it("produces the same name as the whole key, and is bounded for every key", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(text, { maxLength: 4 }),
        fc.integer({ min: 0, max: 700 }),
        (domain, some, empty) => {
          const levels = [...some, ...Array<string>(empty).fill("")];
          const kept = boundedKey({ domain, levels });
          assert.deepEqual(nameOf([kept.domain, ...kept.levels]), nameOf([domain, ...levels]));
          assert.ok(identityOf(kept).length <= MAX_NAME_BYTES + 17, String(identityOf(kept).length));
        },
      ),
    );
  });

  it("is the key itself if the key is short", () => {
    const key = { domain: "d", levels: ["user_1", ""] };
    assert.equal(boundedKey(key), key);
  });

  it("distinguishes keys by their parts, even if a part contains a separator", () => {
    const identity = (domain: string, ...levels: string[]) => identityOf(boundedKey({ domain, levels }));
    assert.notEqual(identity("a", "b"), identity("a\0b"));
    assert.notEqual(identity("a", "b", "c"), identity("a", "b\0c"));
    assert.equal(identity("a\0b"), identity("a_b"));
  });
});
