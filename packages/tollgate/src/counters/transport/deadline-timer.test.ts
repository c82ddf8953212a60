import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { DeadlineTimer } from "./deadline-timer.ts";

test("fires at the earliest time, and not early for a time beyond Node's longest timer", (t) => {
  const delays: number[] = [];
  t.mock.method(globalThis, "setTimeout", (_: () => void, delay: number) => void delays.push(delay));
  const alarm = new DeadlineTimer(() => {});
  const now = performance.now();
  alarm.at(Number.POSITIVE_INFINITY);
  alarm.at(now + 1e14);
  alarm.at(now + 2e14);
  alarm.at(now + 500);
  alarm.at(now + 700);
  alarm.at(now - 500);
  mock.restoreAll();
  assert.deepEqual(
    delays.map((delay) => (delay > 400 && delay <= 500 ? "soon" : delay)),
    [2 ** 31 - 1, "soon", 1],
  );
});
