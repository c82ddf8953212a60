import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameBudget } from "./abuse-limits.ts";
import { Closed, ClosedStreams } from "./closed-streams.ts";

function spendAll(budget: FrameBudget, now: number, work: number): number {
  let count = 0;
  while (count < 1e6 && budget.spend(now, work)) count += 1;
  return count;
}

test("a budget is a burst, grows with time, and never above the burst", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 100, now: 0 });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 50, 0), 5);
  assert.equal(spendAll(budget, 1e6, 0), 10);
});

test("work pays for frames, up to the burst", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 0, now: 0 });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 0, 7), 7);
  assert.equal(spendAll(budget, 0, 7), 0);
  assert.equal(spendAll(budget, 0, 700), 10);
});

test("a budget that keeps its credit takes any number of frames that work has paid for, but not more time", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 1, now: 0, keepsCredit: true });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 0, 700), 700);
  assert.equal(spendAll(budget, 0, 700), 0);
  assert.equal(spendAll(budget, 1e9, 701), 11);
});

test("remembers how streams were cut short, the latest of them", () => {
  const streams = new ClosedStreams();
  assert.equal(streams.lookup(1), Closed.UNKNOWN);
  streams.add(1, Closed.BY_PEER);
  assert.equal(streams.lookup(1), Closed.BY_PEER);
  assert.equal(streams.lookup(3), Closed.UNKNOWN);
  for (let id = 3; id < 1003; id += 2) streams.add(id, Closed.BY_US);
  // Forgotten: taken for one of ours, which is forgiving.
  assert.equal(streams.lookup(1), Closed.BY_US);
  assert.equal(streams.lookup(1001), Closed.BY_US);
  assert.equal(streams.lookup(2001), Closed.UNKNOWN);
});
