import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Expiries } from "./expiries.ts";

/** Spreads numbers over 32 bits. */
const hashOf = (n: number) => Math.imul(n + 1, 0x9e3779b1);

describe("keys whose expiry is set", () => {
  test("are known until their deletion, the hash 0 included", () => {
    const expiries = new Expiries();
    for (const hash of [0, 1, -1, 2 ** 31, 12345]) {
      assert.equal(expiries.has(hash), false);
      expiries.add(hash);
      expiries.add(hash);
      assert.equal(expiries.has(hash), true);
      expiries.delete(hash);
      assert.equal(expiries.has(hash), false);
    }
  });

  test("the table remembers almost all of a million keys, and forgets older ones beyond", () => {
    const expiries = new Expiries();
    for (let i = 0; i < 1_000_000; i++) expiries.add(hashOf(i));
    let known = 0;
    for (let i = 0; i < 1_000_000; i++) if (expiries.has(hashOf(i))) known++;
    assert.ok(known > 950_000, `${known}`);
    for (let i = 1_000_000; i < 4_000_000; i++) expiries.add(hashOf(i));
    assert.ok(expiries.has(hashOf(3_999_999)), "the newest key is known");
  });
});
