import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bucketOf, RESPONSE_TIME_BOUNDS, RecordingTimer, Reservoir } from "./timer.ts";

describe("timers", () => {
  it("resolve what a sub-millisecond service does", () => {
    assert.ok(RESPONSE_TIME_BOUNDS.filter((bound) => bound < 0.001).length >= 5);
    assert.deepEqual(
      RESPONSE_TIME_BOUNDS,
      [...RESPONSE_TIME_BOUNDS].sort((a, b) => a - b),
    );
  });

  it("put a duration at the bound into the bucket of that bound", () => {
    for (const [i, bound] of RESPONSE_TIME_BOUNDS.entries())
      assert.equal(bucketOf(bound, RESPONSE_TIME_BOUNDS), i);
    assert.equal(bucketOf(11, RESPONSE_TIME_BOUNDS), RESPONSE_TIME_BOUNDS.length);
  });

  it("keep count, sum, maximum and buckets in step, whatever is recorded", () => {
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

  it("take a clock that went back, and nonsense, as nothing", () => {
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

  it("tell every listener", () => {
    const timer = new RecordingTimer();
    const heard: number[] = [];
    timer.listen((ms) => heard.push(ms));
    timer.listen((ms) => heard.push(-ms));
    timer.record(3);
    assert.deepEqual(heard, [3, -3]);
  });
});

describe("a reservoir", () => {
  it("keeps all while there is room, and never more than its size", () => {
    const reservoir = new Reservoir(3);
    for (let i = 0; i < 3; i++) reservoir.add(i);
    assert.deepEqual(reservoir.peek(), [0, 1, 2]);
    for (let i = 3; i < 500; i++) reservoir.add(i);
    const { samples, seen } = reservoir.take();
    assert.equal(samples.length, 3);
    assert.equal(seen, 500);
    assert.deepEqual(reservoir.take(), { samples: [], seen: 0 });
  });

  it("keeps each value with the same chance", () => {
    let state = 42;
    const random = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    let early = 0;
    for (let round = 0; round < 400; round++) {
      const reservoir = new Reservoir(10, random);
      for (let i = 0; i < 100; i++) reservoir.add(i);
      early += reservoir.take().samples.filter((value) => value < 50).length;
    }
    assert.ok(early > 1800 && early < 2200, `half of 4000 expected, got ${early}`);
  });
});
