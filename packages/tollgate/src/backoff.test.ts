import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Backoff, backoffDelay } from "./backoff.ts";

const options = fc.record({
  initialInterval: fc.integer({ min: 1, max: 100_000 }),
  maxInterval: fc.integer({ min: 1, max: 100_000 }),
  factor: fc.double({ min: 0, max: 100, noNaN: true }),
  jitter: fc.oneof(fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true })),
});

test("no delay exceeds the maximum, and without jitter no delay is shorter than the one before", () => {
  fc.assert(
    fc.property(options, (chosen) => {
      const backoff = new Backoff(chosen, () => 0.999);
      const delays = Array.from({ length: 50 }, () => backoff.next());
      for (const [index, delay] of delays.entries()) {
        assert.ok(delay >= 0 && delay <= chosen.maxInterval, String(delay));
        if (index > 0 && Number(chosen.jitter) === 0) assert.ok(delay >= delays[index - 1]!);
      }
      backoff.reset();
      assert.equal(backoff.next(), delays[0]);
    }),
    { numRuns: 200 },
  );
});

test("with a jitter of one half, each delay is between half of its interval and the interval", () => {
  const options = { initialInterval: 25, maxInterval: 1000, factor: 1, jitter: 0.5 };
  const longest = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => backoffDelay(failures, options, () => 1));
  assert.deepEqual(longest, [25, 50, 100, 200, 400, 800, 1000, 1000, 1000]);
  assert.equal(
    backoffDelay(1, options, () => 0),
    12.5,
  );
});

test("the delay is a number after any number of failures", () => {
  const options = { initialInterval: 0, maxInterval: 1000, factor: 100, jitter: false };
  assert.equal(backoffDelay(1e6, options), 0);
  assert.equal(backoffDelay(1e6, { ...options, initialInterval: 1 }), 1000);
});
