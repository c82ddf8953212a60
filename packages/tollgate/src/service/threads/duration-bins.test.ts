import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DurationBins } from "./duration-bins.ts";

test("each duration is exact to 0.8 %, and none is lost", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.0001, max: 1_000_000, noNaN: true }),
      fc.integer({ min: 1, max: 5 }),
      (duration, times) => {
        const bins = new DurationBins();
        for (let time = 0; time < times; time++) bins.add(duration);
        bins.add(duration, times);
        const taken = bins.take();
        assert.deepEqual([...taken.times], [2 * times]);
        const off = Math.abs(taken.milliseconds[0]! / duration - 1);
        assert.ok(off <= 0.008, `${duration} became ${taken.milliseconds[0]}`);
        assert.deepEqual([...bins.take().times], []);
      },
    ),
  );
});

test("different durations are returned in ascending order with their counts", () => {
  const bins = new DurationBins();
  for (const duration of [5, 0.02, 5, 0.3, 5]) bins.add(duration);
  const { milliseconds, times } = bins.take();
  assert.deepEqual([...times], [1, 1, 3]);
  assert.deepEqual(
    [...milliseconds],
    [...milliseconds].sort((a, b) => a - b),
  );
});

test("values out of bounds and invalid ones count in the first or last bin", () => {
  const bins = new DurationBins();
  for (const duration of [0, -1, Number.NaN, 1e-9, -0]) bins.add(duration);
  for (const duration of [1e9, Number.POSITIVE_INFINITY]) bins.add(duration);
  const { milliseconds, times } = bins.take();
  assert.deepEqual([...times], [5, 2]);
  assert.ok(milliseconds[0]! < 0.0001 && milliseconds[1]! > 1_000_000);
});
