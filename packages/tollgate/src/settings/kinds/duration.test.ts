import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDuration, parseDuration } from "./duration.ts";

const cases: [string, number | undefined][] = [
  ["0", 0],
  ["-0", 0],
  ["0s", 0],
  ["10s", 10_000],
  ["1h30m", 5_400_000],
  ["150us", 0.15],
  ["150µs", 0.15],
  ["150μs", 0.15],
  ["1ns", 1e-6],
  ["1.5s", 1500],
  [".5h", 1_800_000],
  ["1.s", 1000],
  ["-1m", -60_000],
  ["+2ms", 2],
  ["1h1m1s1ms1us1ns", 3_661_001.001001],
  ["0.1ms0.2ms", 0.3],
  ["10", undefined],
  ["", undefined],
  ["s", undefined],
  [".s", undefined],
  ["1 s", undefined],
  ["10S", undefined],
  ["1d", undefined],
  ["3sx", undefined],
  ["1e3s", undefined],
];

for (const [text, milliseconds] of cases)
  test(`the duration ${JSON.stringify(text)} is ${milliseconds} ms`, () => {
    const parsed = parseDuration(text);
    assert.equal(parsed === undefined ? undefined : parsed + 0, milliseconds);
  });

test("a formatted duration parses to the same value", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (nanoseconds) => {
      const milliseconds = nanoseconds / 1e6;
      const back = parseDuration(formatDuration(milliseconds));
      assert.ok(
        Math.abs(back! - milliseconds) <= 1e-6 + milliseconds * 1e-9,
        `${formatDuration(milliseconds)}`,
      );
    }),
    { numRuns: 500 },
  );
});

test("durations are formatted in the largest fitting units", () => {
  assert.deepEqual([0, 0.15, 0.0005, 250, 10_000, 86_400_000, 5_400_000, 1500].map(formatDuration), [
    "0s",
    "150us",
    "500ns",
    "250ms",
    "10s",
    "24h",
    "1h30m",
    "1.5s",
  ]);
});
