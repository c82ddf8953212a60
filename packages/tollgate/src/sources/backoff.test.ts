import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Backoff } from "./backoff.ts";

const options = fc.record({
  initialInterval: fc.integer({ min: 1, max: 100_000 }),
  maxInterval: fc.integer({ min: 1, max: 100_000 }),
  factor: fc.double({ min: 0, max: 100, noNaN: true }),
  jitter: fc.boolean(),
});

test("no wait is longer than the maximum, and without jitter none is shorter than the one before", () => {
  fc.assert(
    fc.property(options, (chosen) => {
      const backoff = new Backoff(chosen, () => 0.999);
      const waits = Array.from({ length: 50 }, () => backoff.next());
      for (const [index, wait] of waits.entries()) {
        assert.ok(wait >= 0 && wait <= chosen.maxInterval, String(wait));
        if (index > 0 && !chosen.jitter) assert.ok(wait >= waits[index - 1]!);
      }
      backoff.reset();
      assert.equal(backoff.next(), waits[0]);
    }),
    { numRuns: 200 },
  );
});
