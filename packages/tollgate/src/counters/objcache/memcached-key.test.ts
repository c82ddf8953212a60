import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Count, Refuses } from "../store.ts";
import { expiryOf, keyOf } from "./memcached-key.ts";

const count = (stem: string): Count => ({
  stem,
  windowStart: 1_700_000_000,
  windowSize: 60,
  hits: 1,
  limit: 1,
  refuses: Refuses.ALWAYS,
  outcome: 0,
  after: 0,
});

describe("keys for memcached", () => {
  test("have at most 250 encoded bytes", () => {
    for (const stem of ["a|k=v|", "x".repeat(240), "é".repeat(120), "漢".repeat(80)])
      assert.equal(keyOf(count(stem)), `${stem}1700000000`);
    for (const stem of ["x".repeat(241), "é".repeat(121), "漢".repeat(81), "x".repeat(10_000)])
      assert.throws(() => keyOf(count(stem)), { code: "KEY_UNUSABLE" });
  });

  test("have no white space or control characters", () => {
    for (const bad of [" ", "\t", "\n", "\r", "\0", "\x1f", "\x7f"])
      assert.throws(() => keyOf(count(`a${bad}b`)), { code: "KEY_UNUSABLE" });
  });

  test("have a relative expiry for windows up to 30 days, and an absolute one beyond", () => {
    const now = 1_800_000_000_500;
    assert.equal(expiryOf(1, 0, now), 1);
    assert.equal(expiryOf(60, 7, now), 67);
    assert.equal(expiryOf(2_592_000, 0, now), 2_592_000);
    // With a slow wall clock an absolute expiry would end the counter at once.
    assert.equal(expiryOf(2_592_000, 300, now), 2_592_000);
    assert.equal(expiryOf(2_591_900, 300, now), 2_592_000);
    assert.equal(expiryOf(2_592_001, 9, now), 1_802_592_010);
  });
});
