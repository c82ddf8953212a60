import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { isKeyLength, KeyScratch, keyBytes } from "./key.ts";

function keyOf(stem: string, seed = 1) {
  const key = new KeyScratch(seed, 2);
  key.encode({ stem });
  return { hash: key.hash, lengthField: key.lengthField, words: [...key.words.subarray(0, key.size)] };
}

/** Strings of any code units, lone surrogates included, with lengths around the changes of the encoding. */
const stems = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.nat({ max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.integer({ min: 250, max: 520 }).map((length) => "a".repeat(length)),
  fc.integer({ min: 250, max: 520 }).map((length) => "語".repeat(length)),
);

describe("keys of the embedded store", () => {
  test("equal strings have equal keys, and different strings have different keys", () => {
    fc.assert(
      fc.property(stems, stems, (a, b) => {
        const [first, second] = [keyOf(a), keyOf(b)];
        const { hash: _a, ...left } = first;
        const { hash: _b, ...right } = second;
        if (a === b) assert.deepEqual(first, second);
        else assert.notDeepEqual(left, right);
        assert.deepEqual(keyOf(a), first);
      }),
      { numRuns: 1000 },
    );
  });

  test("similar strings have different keys", () => {
    const alike = [
      "",
      "\0",
      "\0\0",
      "\0\0\0\0",
      "a",
      "a\0",
      "\0a",
      "é",
      "e\u0301",
      "\ud800",
      "\udfff",
      "\ufffd",
      "慡",
      "aa",
    ];
    alike.push(
      "a".repeat(512),
      "a".repeat(513),
      `${"a".repeat(512)}b`,
      "\u0100".repeat(256),
      "\u0100".repeat(257),
    );
    const keys = new Set(alike.map((stem) => JSON.stringify({ ...keyOf(stem), hash: 0 })));
    assert.equal(keys.size, alike.length);
  });

  test("keys have at most 512 bytes and a length field that snapshots accept", () => {
    fc.assert(
      fc.property(stems, (stem) => {
        const { lengthField, words } = keyOf(stem);
        assert.ok(isKeyLength(lengthField));
        assert.ok(keyBytes(lengthField) <= 512);
        assert.equal(words.length, Math.ceil(keyBytes(lengthField) / 4));
      }),
    );
    for (const lengthField of [-1, 513, 4 << 16, (1 << 16) | 600, 1 << 30])
      assert.ok(!isKeyLength(lengthField));
  });

  test("a key survives a round trip through bytes", () => {
    fc.assert(
      fc.property(stems, (stem) => {
        const key = new KeyScratch(1, 2);
        key.encode({ stem });
        const bytes = new Uint8Array(key.words.buffer, 0, keyBytes(key.lengthField)).slice();
        const read = new KeyScratch(1, 2);
        read.encode({ stem: "something longer that was here before, and must leave nothing behind" });
        read.load(key.lengthField, bytes);
        assert.equal(read.hash, key.hash);
        assert.equal(read.size, key.size);
        assert.deepEqual(read.words.subarray(0, read.size), key.words.subarray(0, key.size));
      }),
    );
  });

  test("hashes of similar keys spread evenly over buckets, by their first and by their last bits", () => {
    const buckets = 1024;
    const keys = 64 * buckets;
    const low = new Uint32Array(buckets);
    const high = new Uint32Array(buckets);
    for (let index = 0; index < keys; index++) {
      const { hash } = keyOf(`edge|address=10.0.${index >> 8}.${index & 255}|minute:`);
      low[hash & (buckets - 1)]! += 1;
      high[hash >>> 22]! += 1;
    }
    for (const counts of [low, high]) {
      let chiSquare = 0;
      for (const count of counts) chiSquare += (count - 64) ** 2 / 64;
      // 1023 degrees of freedom: 45 is one standard deviation. The key is fixed, so this does not vary.
      assert.ok(Math.abs(chiSquare - 1023) < 5 * 45, `chi-square ${chiSquare}`);
    }
  });

  test("the hash depends on the store's hash key", () => {
    const same = Array.from({ length: 1000 }, (_, index) => `k${index}`).filter(
      (stem) => (keyOf(stem, 1).hash & 1023) === (keyOf(stem, 99).hash & 1023),
    );
    assert.ok(same.length < 10);
  });
});
