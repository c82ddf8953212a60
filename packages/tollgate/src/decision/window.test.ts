import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import { windowSeconds } from "../protocol/units.ts";
import { secondsUntilReset, windowStart } from "./window.ts";

const NOW = 1_783_296_005;
const starts: [keyof typeof Unit, number][] = [
  ["SECOND", 1_783_296_005],
  ["MINUTE", 1_783_296_000],
  ["HOUR", 1_783_296_000],
  ["DAY", 1_783_296_000],
  ["WEEK", 1_782_950_400],
  ["MONTH", 1_783_296_000 - (1_783_296_000 % 2_592_000)],
  ["YEAR", 1_766_016_000],
];
for (const [unit, start] of starts) {
  test(`a ${unit.toLowerCase()} window starts at a multiple of its size since the epoch`, () => {
    assert.equal(windowStart(NOW, Unit[unit]), start);
  });
}

test("start, reset and size are consistent at any time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), fc.integer({ min: 1, max: 7 }), (seconds, number) => {
      const unit = number as Unit;
      const size = windowSeconds[unit]!;
      const start = windowStart(seconds, unit);
      const reset = secondsUntilReset(seconds, unit);
      assert.ok(start <= seconds && seconds < start + size);
      assert.equal(start + size - seconds, reset);
      assert.ok(reset >= 1 && reset <= size);
    }),
  );
});
