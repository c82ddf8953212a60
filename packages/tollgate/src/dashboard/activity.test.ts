import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createStatistics } from "../observe/registry.ts";
import type { RuleSeries } from "../observe/series.ts";
import { Activity } from "./activity.ts";
import { SLOT_SECONDS, SLOTS } from "./messages.ts";

const SLOT = SLOT_SECONDS * 1000;

function setUp(keys: readonly string[]) {
  const registry = createStatistics();
  const series = keys.map((key) => registry.rule({ domain: "d", levels: [key] }, false) as RuleSeries);
  const activity = new Activity();
  return { registry, series, activity, read: (now: number) => activity.read(registry.counters, now) };
}

test("rates are those of the current slot and the one before", async () => {
  const { series, activity, read } = setUp(["a"]);
  const [rule] = series as [RuleSeries];
  await read(0);
  rule.totalHits += 30;
  rule.overLimit += 10;
  rule.nearLimit += 5;
  await read(1000);
  rule.totalHits += 30;
  rule.shadowMode += 4;
  rule.overLimit += 4;
  await read(SLOT + 1000);
  // 60 hits in six seconds: a slot of five, and one second.
  assert.deepEqual(activity.rates(rule), {
    hits: 10,
    near: 5 / 6,
    refused: 10 / 6,
    shadowed: 4 / 6,
  });
  await read(3 * SLOT);
  assert.deepEqual(activity.rates(rule), { hits: 0, near: 0, refused: 0, shadowed: 0 });
});

test("hits before the first reading are not activity", async () => {
  const { series, activity, read } = setUp(["a"]);
  series[0]!.totalHits = 1000;
  await read(0);
  await read(1000);
  assert.equal(activity.active, 0);
  assert.equal(activity.history(series[0]!), undefined);
  series[0]!.totalHits += 10;
  await read(2000);
  assert.equal(activity.history(series[0]!)!.hits.at(-1), 5);
});

test("a rule that was idle keeps the hits of its first reading", async () => {
  const { series, activity, read } = setUp(["a"]);
  const [rule] = series as [RuleSeries];
  await read(0);
  rule.totalHits = 5;
  await read(1000);
  await read((SLOTS + 3) * SLOT);
  assert.equal(activity.active, 0);
  rule.totalHits += 50;
  await read((SLOTS + 4) * SLOT);
  assert.equal(activity.rates(rule).hits, 50 / SLOT_SECONDS);
});

test("a limit of a list does not count twice in the sums", async () => {
  const { series, activity, read } = setUp(["a", "a.limit.minute"]);
  await read(0);
  series[0]!.totalHits = 10;
  series[0]!.overLimit = 5;
  series[1]!.overLimit = 5;
  await read(1000);
  const { refused, hits } = activity.sums!.total.rates(activity.secondsOfTwoSlots);
  assert.deepEqual([refused, hits], [5 / 6, 10 / 6]);
});

test("the number of rules with a history is bounded, and the most refused ones stay", async () => {
  const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}`);
  const { series, activity, read } = setUp(keys);
  await read(0);
  for (const [index, rule] of series.entries()) {
    rule.totalHits = 1 + index;
    rule.overLimit = index % 100 === 0 && index < 8000 ? index : 0;
  }
  await read(1000);
  assert.equal(activity.active, 8192);
  await read(SLOT);
  assert.equal(activity.active, 4096);
  for (let index = 100; index < 8000; index += 100)
    assert.notEqual(activity.history(series[index]!), undefined, keys[index]!);
});

test("a history has the hits of each slot, whenever the counters are read", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ wait: fc.integer({ min: 0, max: 40_000 }), hits: fc.nat(1000) }), {
        minLength: 1,
        maxLength: 30,
      }),
      async (steps) => {
        const { series, activity, read } = setUp(["a"]);
        const [rule] = series as [RuleSeries];
        let now = 0;
        const expected = new Map<number, number>();
        await read(now);
        for (const { wait, hits } of steps) {
          now += wait;
          rule.totalHits += hits;
          await read(now);
          const slot = Math.floor(now / SLOT);
          expected.set(slot, (expected.get(slot) ?? 0) + hits);
        }
        const last = Math.floor(now / SLOT);
        const history = activity.history(rule);
        const hitsOf = (back: number) => expected.get(last - back) ?? 0;
        const recent = Array.from({ length: SLOTS }, (_, index) => hitsOf(SLOTS - 1 - index));
        if (history === undefined) {
          assert.ok(recent.every((hits) => hits === 0));
          return;
        }
        const shown = history.hits.map((perSecond, index) => {
          const length = index < SLOTS - 1 ? SLOT_SECONDS : Math.max((now - last * SLOT) / 1000, 1);
          return perSecond * length;
        });
        // Rates have one decimal.
        for (const [index, hits] of recent.entries())
          assert.ok(Math.abs(shown[index]! - hits) <= 0.05 * SLOT_SECONDS + 1e-6, `slot ${index}`);
      },
    ),
  );
});
