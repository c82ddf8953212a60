import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameBudget } from "./abuse-limits.ts";
import { Closed, ClosedStreams } from "./closed-streams.ts";

function spendAll(budget: FrameBudget, now: number, work: number): number {
  let count = 0;
  while (count < 1e6 && budget.spend(now, work)) count += 1;
  return count;
}

test("a budget starts with its burst, and time refills it up to the burst", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 100, now: 0 });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 50, 0), 5);
  assert.equal(spendAll(budget, 1e6, 0), 10);
});

test("work refills the budget up to the burst", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 0, now: 0 });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 0, 7), 7);
  assert.equal(spendAll(budget, 0, 7), 0);
  assert.equal(spendAll(budget, 0, 700), 10);
});

test("a budget with keepsCredit keeps all credit from work, but credit from time only up to the burst", () => {
  const budget = new FrameBudget({ burst: 10, perSecond: 1, now: 0, keepsCredit: true });
  assert.equal(spendAll(budget, 0, 0), 10);
  assert.equal(spendAll(budget, 0, 700), 700);
  assert.equal(spendAll(budget, 0, 700), 0);
  assert.equal(spendAll(budget, 1e9, 701), 11);
});

test("remembers which side reset the most recently reset streams", () => {
  const streams = new ClosedStreams();
  assert.equal(streams.lookup(1), Closed.UNKNOWN);
  streams.add(1, Closed.BY_PEER);
  assert.equal(streams.lookup(1), Closed.BY_PEER);
  assert.equal(streams.lookup(3), Closed.UNKNOWN);
  for (let id = 3; id < 1003; id += 2) streams.add(id, Closed.BY_US);
  // A forgotten stream counts as reset by the server, the more lenient case.
  assert.equal(streams.lookup(1), Closed.BY_US);
  assert.equal(streams.lookup(1001), Closed.BY_US);
  assert.equal(streams.lookup(2001), Closed.UNKNOWN);
});
