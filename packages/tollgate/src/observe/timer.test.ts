import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bucketOf, RecordingTimer, responseTimeBounds } from "./timer.ts";

describe("timers", () => {
  it("resolve durations below a millisecond", () => {
    assert.ok(responseTimeBounds.filter((bound) => bound < 0.001).length >= 5);
    assert.deepEqual(
      responseTimeBounds,
      [...responseTimeBounds].sort((a, b) => a - b),
    );
  });

  it("put a duration at the bound into the bucket of that bound", () => {
    for (const [i, bound] of responseTimeBounds.entries())
      assert.equal(bucketOf(bound, responseTimeBounds), i);
    assert.equal(bucketOf(11, responseTimeBounds), responseTimeBounds.length);
  });

  it("keep count, sum, maximum and buckets consistent, whatever is recorded", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 20_000, noNaN: true })), (durations) => {
        const timer = new RecordingTimer();
        for (const duration of durations) timer.record(duration);
        assert.equal(timer.count, durations.length);
        assert.equal(
          timer.buckets.reduce((a, b) => a + b, 0),
          durations.length,
        );
        assert.equal(timer.max, Math.max(0, ...durations));
        assert.ok(timer.quantile(0.5) <= timer.quantile(0.99));
        assert.ok(timer.quantile(1) <= timer.max);
      }),
    );
  });

  it("record negative durations and NaN as 0", () => {
    const timer = new RecordingTimer();
    timer.record(-5);
    timer.record(Number.NaN);
    assert.deepEqual([timer.count, timer.sum, timer.max], [2, 0, 0]);
  });

  it("estimate quantiles within the bucket", () => {
    const timer = new RecordingTimer();
    for (let i = 1; i <= 1000; i++) timer.record(i / 1000);
    assert.ok(Math.abs(timer.quantile(0.5) - 0.5) < 0.05);
    assert.ok(Math.abs(timer.quantile(0.99) - 0.99) < 0.05);
  });

  it("pass durations to every listener", () => {
    const timer = new RecordingTimer();
    const heard: number[] = [];
    timer.listen((ms) => heard.push(ms));
    timer.listen((ms) => heard.push(-ms));
    timer.record(3);
    assert.deepEqual(heard, [3, -3]);
  });
});
