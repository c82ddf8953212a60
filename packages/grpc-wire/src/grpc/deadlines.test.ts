import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadlineWheel, type Timed } from "./deadlines.ts";

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: 1_000_000 });
  const wheel = new DeadlineWheel(Date.now);
  const fired: number[] = [];
  const add = (inMs: number): Timed => {
    const timed: Timed = {
      expiresAt: Date.now() + inMs,
      wheelSlot: -1,
      onDeadline: () => fired.push(inMs),
    };
    wheel.add(timed);
    return timed;
  };
  return { wheel, fired, add };
}

test("fires each deadline once, never early and at most one tick late", (t) => {
  const { fired, add } = start(t);
  for (const inMs of [0, 1, 7, 100, 2555, 2565, 10_000, 60_000]) add(inMs);
  t.mock.timers.tick(5);
  assert.deepEqual(fired, [0, 1]);
  t.mock.timers.tick(1);
  assert.deepEqual(fired, [0, 1]);
  t.mock.timers.tick(100);
  assert.deepEqual(fired, [0, 1, 7, 100]);
  t.mock.timers.tick(2470);
  assert.deepEqual(fired, [0, 1, 7, 100, 2555, 2565]);
  t.mock.timers.tick(60_000);
  assert.deepEqual(fired, [0, 1, 7, 100, 2555, 2565, 10_000, 60_000]);
});

test("a removed entry does not fire, and the wheel restarts after it was empty", (t) => {
  const { wheel, fired, add } = start(t);
  const removed = add(20);
  wheel.remove(removed);
  wheel.remove(removed);
  t.mock.timers.tick(1000);
  assert.deepEqual(fired, []);
  add(30);
  t.mock.timers.tick(40);
  assert.deepEqual(fired, [30]);
});

test("fires all due deadlines after a blocked event loop", (t) => {
  const { fired, add } = start(t);
  add(50);
  add(3000);
  t.mock.timers.setTime(1_000_000 + 600_000);
  t.mock.timers.tick(5);
  assert.deepEqual(fired.sort(), [3000, 50].sort());
});
