import assert from "node:assert/strict";
import { test } from "node:test";
import { Allowance, Closed, ResetStreams } from "./guard.ts";

function spendAll(allowance: Allowance, now: number, answered: number): number {
  let count = 0;
  while (count < 1e6 && allowance.spend(now, answered)) count += 1;
  return count;
}

test("an allowance is a burst, grows back with time, and never above the burst", () => {
  const allowance = new Allowance(10, 100, 0);
  assert.equal(spendAll(allowance, 0, 0), 10);
  assert.equal(spendAll(allowance, 50, 0), 5);
  assert.equal(spendAll(allowance, 1e6, 0), 10);
});

test("each answered call gives one back", () => {
  const allowance = new Allowance(10, 0, 0);
  assert.equal(spendAll(allowance, 0, 0), 10);
  assert.equal(spendAll(allowance, 0, 7), 7);
  assert.equal(spendAll(allowance, 0, 7), 0);
});

test("remembers how streams were cut short, the latest of them", () => {
  const streams = new ResetStreams();
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
