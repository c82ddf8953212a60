import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TwoGenerationCache } from "./two-generation-cache.ts";

const CAPACITY = 5;
const MAX_BYTES = 100;

test("no generation exceeds its bounds in number and in bytes, for any sequence of calls", () => {
  const step = fc.record({ hash: fc.nat(30), bytes: fc.nat(120), ask: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const kept = new TwoGenerationCache<number, { readonly hash: number; readonly bytes: number }>(
        CAPACITY,
        MAX_BYTES,
      );
      for (const { hash, bytes, ask } of steps) {
        if (!ask) kept.put(hash, { hash, bytes });
        const found = kept.get(hash);
        if (found !== undefined) assert.equal(found.hash, hash);
        if (!ask && bytes <= MAX_BYTES) assert.equal(found?.bytes, bytes);
        assert.ok(kept.size <= 2 * CAPACITY);
        assert.ok(kept.bytes <= 2 * MAX_BYTES && kept.bytes >= 0, String(kept.bytes));
      }
      kept.clear();
      assert.deepEqual([kept.size, kept.bytes], [0, 0]);
    }),
  );
});

test("used values are kept, unused ones are evicted", () => {
  const kept = new TwoGenerationCache<number, { readonly bytes: number }>(CAPACITY, MAX_BYTES);
  kept.put(-1, { bytes: 10 });
  kept.put(-2, { bytes: 10 });
  for (let hash = 0; hash < 50; hash++) {
    kept.put(hash, { bytes: 30 });
    assert.notEqual(kept.get(-1), undefined);
  }
  assert.equal(kept.get(-2), undefined);
});
