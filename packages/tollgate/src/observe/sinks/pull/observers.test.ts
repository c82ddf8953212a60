import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Summary } from "./observers.ts";

describe("a summary", () => {
  const shape = {
    type: "summary",
    quantiles: [0, 0.5, 0.99, 1],
    maxAge: 1000,
    ageBuckets: 5,
    capacity: 500,
  } as const;

  it("returns the quantiles of its durations", () => {
    const summary = new Summary(shape, () => 0);
    for (let i = 1; i <= 100; i++) summary.observe(i);
    assert.deepEqual(summary.read(), [1, 50, 99, 100]);
    assert.deepEqual([summary.sum, summary.count], [5050, 100]);
  });

  it("drops durations older than max_age, one part at a time, and keeps sum and count", () => {
    let now = 0;
    const summary = new Summary(shape, () => now);
    summary.observe(1);
    now = 500;
    summary.observe(9);
    assert.deepEqual(summary.read(), [1, 1, 9, 9]);
    now = 1100;
    assert.deepEqual(summary.read(), [9, 9, 9, 9]);
    now = 10_000;
    assert.deepEqual(summary.read(), [Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    assert.deepEqual([summary.sum, summary.count], [10, 2]);
  });

  it("weighs each part by its number of durations, although its sample is bounded", () => {
    let now = 0;
    const summary = new Summary({ ...shape, capacity: 10 }, () => now);
    for (let i = 0; i < 10; i++) summary.observe(1);
    now = 300;
    for (let i = 0; i < 990; i++) summary.observe(2);
    assert.deepEqual(summary.read().slice(1), [2, 2, 2]);
  });

  it("keeps the age of its parts if the wall clock steps", (t) => {
    const real = Date.now;
    const summary = new Summary({ ...shape, maxAge: 600_000 });
    summary.observe(5);
    t.mock.method(Date, "now", () => real() + 3600e3);
    assert.deepEqual(summary.read(), [5, 5, 5, 5]);
  });
});
