import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Deadlines, type Timed } from "./deadlines.ts";

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const deadlines = new Deadlines(Date.now);
  const fired: number[] = [];
  const add = (inMs: number, onDeadline = () => {}): Timed => {
    const timed: Timed = {
      expiresAt: Date.now() + inMs,
      deadlinePlace: -1,
      onDeadline: () => {
        fired.push(inMs);
        onDeadline();
      },
    };
    deadlines.add(timed);
    return timed;
  };
  const firedUntil = (ms: number): number[] => {
    t.mock.timers.tick(ms);
    return fired.splice(0).sort((a, b) => a - b);
  };
  return { deadlines, fired, add, firedUntil };
}

test("fires each deadline once, never early and at most 5 ms late", (t) => {
  const { add, firedUntil } = start(t);
  for (const inMs of [10_000, 0, 1, 100, 7, 60_000, 2555, 2565]) add(inMs);
  assert.deepEqual(firedUntil(5), [0, 1]);
  assert.deepEqual(firedUntil(1), []);
  assert.deepEqual(firedUntil(6), [7]);
  assert.deepEqual(firedUntil(93), [100]);
  assert.deepEqual(firedUntil(2449), []);
  assert.deepEqual(firedUntil(15), [2555, 2565]);
  assert.deepEqual(firedUntil(60_000), [10_000, 60_000]);
});

test("many deadlines in any order", (t) => {
  const { add, firedUntil } = start(t);
  const all = Array.from({ length: 1000 }, (_, index) => 10 * ((index * 367) % 1000));
  for (const inMs of all) add(inMs);
  for (let until = 0; until < 10_000; until += 100)
    assert.deepEqual(
      firedUntil(100),
      all.filter((ms) => ms >= (until === 0 ? 0 : until + 1) && ms <= until + 100).sort((a, b) => a - b),
      `until ${until + 100}`,
    );
});

test("a removed entry does not fire, and the timer starts again after there was none", (t) => {
  const { deadlines, add, firedUntil } = start(t);
  const removed = add(20);
  add(25);
  deadlines.remove(removed);
  deadlines.remove(removed);
  assert.deepEqual(firedUntil(1000), [25]);
  add(30);
  assert.deepEqual(firedUntil(40), [30]);
});

test("a deadline may remove other entries, and add some", (t) => {
  const { deadlines, add, firedUntil } = start(t);
  const later = [add(50), add(60), add(70)];
  add(10, () => {
    for (const timed of later.slice(0, 2)) deadlines.remove(timed);
    add(8);
  });
  add(10, () => add(90));
  assert.deepEqual(firedUntil(15), [10, 10]);
  assert.deepEqual(firedUntil(10), [8]);
  assert.deepEqual(firedUntil(200), [70, 90]);
});

test("a deadline may remove entries that are due, too", (t) => {
  const { deadlines, add, firedUntil } = start(t);
  const due = [add(10), add(20), add(10)];
  add(10, () => {
    for (const timed of due) deadlines.remove(timed);
  });
  assert.deepEqual(firedUntil(100), [10]);
});

test("fires all due deadlines after a blocked event loop", (t) => {
  const { add, firedUntil } = start(t);
  add(50);
  add(3000);
  t.mock.timers.setTime(1_000_000 + 600_000);
  assert.deepEqual(firedUntil(5), [50, 3000]);
});

test("a deadline beyond Node's longest timer does not fire at once", (t) => {
  const { add, firedUntil } = start(t);
  add(1e14);
  assert.deepEqual(firedUntil(1000), []);
});

test("keeps no removed entry alive", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const deadlines = new Deadlines(() => 0);
  const removed: WeakRef<Timed>[] = [];
  const addAndRemove = (order: readonly number[]) => {
    const all = order.map((): Timed => ({ expiresAt: 1e6, deadlinePlace: -1, onDeadline() {} }));
    for (const timed of all) {
      deadlines.add(timed);
      removed.push(new WeakRef(timed));
    }
    for (const index of order) deadlines.remove(all[index]!);
  };
  addAndRemove([0, 1, 2, 3]);
  addAndRemove([3, 1, 0, 2]);
  // A weak reference holds its target until the end of the turn.
  await turn();
  collectGarbage();
  assert.equal(removed.filter((each) => each.deref() !== undefined).length, 0);
  deadlines.stop();
});
