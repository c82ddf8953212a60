import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Expiries } from "./expiries.ts";

/** Spreads numbers over 32 bits. */
const hashOf = (n: number) => Math.imul(n + 1, 0x9e3779b1);

describe("keys whose expiry is set", () => {
  test("are known until their deletion, the hash 0 included", () => {
    const expiries = new Expiries();
    for (const hash of [0, 1, -1, 2 ** 31, 12345]) {
      for (let turn = 0; turn < 2; turn++) {
        assert.equal(expiries.mark(hash), false);
        assert.equal(expiries.mark(hash), true);
        assert.equal(expiries.mark(hash), true);
        expiries.delete(hash);
      }
    }
  });

  test("do not take the memory of keys that are deleted again", () => {
    const expiries = new Expiries();
    const before = process.memoryUsage().arrayBuffers;
    // Held counts mark their keys, and delete them when they were not counted.
    for (let i = 0; i < 1_000_000; i++) {
      expiries.mark(hashOf(i));
      expiries.delete(hashOf(i));
    }
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 1024 ** 2, `${grown} bytes`);
  });

  test("the table remembers almost all of a million keys, and forgets older ones beyond", () => {
    const expiries = new Expiries();
    for (let i = 0; i < 1_000_000; i++) expiries.mark(hashOf(i));
    let known = 0;
    for (let i = 0; i < 1_000_000; i++) if (expiries.mark(hashOf(i))) known++;
    assert.ok(known > 950_000, `${known}`);
    for (let i = 1_000_000; i < 4_000_000; i++) expiries.mark(hashOf(i));
    assert.ok(expiries.mark(hashOf(3_999_999)), "the newest key is known");
  });
});
