import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { placeOf } from "../../test/counters/conformance.ts";
import { hashOfBytes, hashOfText } from "./stem-hash.ts";

const ascii = fc.string({ unit: "binary-ascii", maxLength: 80 });

function inPlace(text: string, seed: number, before: number): number {
  const { words, start, end } = placeOf(
    Buffer.from(`${"x".repeat(before)}${text}yy`),
    before,
    before + text.length,
  );
  return hashOfBytes(words, start, end, seed);
}

describe("the hash of a stem", () => {
  it("is the same from bytes and from a text", () => {
    fc.assert(
      fc.property(ascii, fc.integer(), fc.nat(9), (text, seed, before) =>
        assert.equal(inPlace(text, seed, before), hashOfText(text, seed)),
      ),
    );
  });

  it("differs between a million similar stems, except for a few by chance", () => {
    const hashes = new Set<number>();
    for (let index = 0; index < 1_000_000; index++)
      hashes.add(hashOfText(`bench|user=10.${index}|minute:`, 0));
    // 116 collisions are expected.
    assert.ok(hashes.size > 1_000_000 - 250, `${hashes.size} different hashes`);
  });

  it("is spread evenly", () => {
    const slots = new Array<number>(100).fill(0);
    for (let index = 0; index < 100_000; index++)
      slots[Math.floor(((hashOfText(`d|address=192.0.2.${index}|hour:`, 0) >>> 0) / 2 ** 32) * 100)]!++;
    for (const [slot, found] of slots.entries())
      assert.ok(found > 800 && found < 1200, `slot ${slot}: ${found} of 1000`);
  });

  it("depends on the seed", () => {
    assert.notEqual(hashOfText("d|k=v|minute:", 1), hashOfText("d|k=v|minute:", 2));
  });
});
