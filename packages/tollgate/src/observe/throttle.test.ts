import assert from "node:assert/strict";
import { test } from "node:test";
import { Throttle, withCount } from "./throttle.ts";

test("the first event is due at once, then one line per interval with the count", () => {
  let now = 5;
  const throttle = new Throttle(100, () => now);
  const hits: (number | undefined)[] = [];
  for (now of [5, 6, 104, 105, 106, 1000]) hits.push(throttle.hit());
  assert.deepEqual(hits, [1, undefined, undefined, 3, undefined, 2]);
});

test("restart discards the events and starts an interval", () => {
  let now = 0;
  const throttle = new Throttle(100, () => now);
  throttle.hit();
  throttle.hit();
  now = 99;
  throttle.restart();
  now = 150;
  assert.equal(throttle.hit(), undefined);
  now = 199;
  assert.equal(throttle.hit(), 2);
});

test("a line shows a count above 1", () => {
  assert.equal(withCount("it failed", 1), "it failed");
  assert.equal(withCount("it failed", 12), "it failed (12 times since the last such line)");
});
