import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Outcome, Refuses } from "../counters/store.ts";
import { Code, Unit } from "../protocol/messages.ts";
import { MapStatistics } from "./decide.fixture.ts";
import { nearLimit, tally } from "./tally.ts";

const { COUNTED, KNOWN_OVER, HELD, ALLOWED, DENIED } = Outcome;

interface Expected {
  over?: number;
  near?: number;
  within?: number;
  local?: number;
  shadow?: number;
}

// outcome, limit, hits, after, shadow -> code, remaining, statistics. The first block is the table of `tally`, row by row.
const cases: [string, Outcome, number, number, number, boolean, keyof typeof Code, number, Expected][] = [
  ["A > L, B >= L", COUNTED, 10, 3, 30, false, "OVER_LIMIT", 0, { over: 3 }],
  ["A > L, B = L", COUNTED, 10, 1, 11, false, "OVER_LIMIT", 0, { over: 1 }],
  ["A > L, B < L, B > N", COUNTED, 20, 3, 22, false, "OVER_LIMIT", 0, { over: 2, near: 1 }],
  ["A > L, B < L, B < N", COUNTED, 20, 7, 22, false, "OVER_LIMIT", 0, { over: 2, near: 4 }],
  ["A > L, B = 7 of 10", COUNTED, 10, 5, 12, false, "OVER_LIMIT", 0, { over: 2, near: 2 }],
  ["N < A <= L, B >= N", COUNTED, 20, 3, 19, false, "OK", 1, { near: 3, within: 3 }],
  ["N < A <= L, B < N", COUNTED, 8, 2, 7, false, "OK", 1, { near: 1, within: 2 }],
  ["A = N + 1", COUNTED, 15, 1, 13, false, "OK", 2, { near: 1, within: 1 }],
  ["A <= N", COUNTED, 15, 1, 11, false, "OK", 4, { within: 1 }],
  ["A = L = 1", COUNTED, 1, 1, 1, false, "OK", 0, { near: 1, within: 1 }],
  ["known over", KNOWN_OVER, 10, 4, 0, false, "OVER_LIMIT", 0, { over: 4, local: 4 }],
  ["limit 0 blocks all", COUNTED, 0, 1, 1, false, "OVER_LIMIT", 0, { over: 1 }],

  ["a read of an unused limit", COUNTED, 10, 0, 0, false, "OK", 10, {}],
  ["a read of a used-up limit", COUNTED, 10, 0, 10, false, "OK", 0, {}],
  ["a read above the limit", COUNTED, 10, 0, 11, false, "OVER_LIMIT", 0, {}],
  ["a read of limit 0", COUNTED, 0, 0, 0, false, "OK", 0, {}],
  ["a refund", COUNTED, 10, -3, 4, false, "OK", 6, {}],
  ["a refund, still over", COUNTED, 10, -3, 12, false, "OVER_LIMIT", 0, {}],

  ["shadow, wholly over", COUNTED, 10, 3, 30, true, "OK", 0, { over: 3, shadow: 3 }],
  ["shadow, partly over", COUNTED, 20, 7, 22, true, "OK", 0, { over: 2, near: 4, shadow: 2 }],
  ["shadow, known over", KNOWN_OVER, 10, 4, 0, true, "OK", 0, { over: 4, local: 4, shadow: 4 }],
  ["shadow, within", COUNTED, 10, 1, 1, true, "OK", 9, { within: 1 }],

  ["held back", HELD, 10, 1, 4, false, "OK", 6, {}],

  ["failure policy allow", ALLOWED, 10, 1, 0, false, "OK", 0, {}],
  ["failure policy deny", DENIED, 10, 1, 0, false, "OVER_LIMIT", 0, {}],
  ["failure policy deny, shadow", DENIED, 10, 1, 0, true, "OK", 0, {}],

  ["saturated counter", COUNTED, 10, 5, Number.MAX_SAFE_INTEGER, false, "OVER_LIMIT", 0, { over: 5 }],
];

for (const [name, outcome, limit, hits, after, shadowMode, code, remaining, expected] of cases) {
  test(`tally: ${name}`, () => {
    const statistics = new MapStatistics().rule({ domain: "d", levels: ["k"] });
    const count = {
      stem: "k:",
      windowStart: 60_000,
      windowSize: 60,
      hits,
      limit,
      refuses: Refuses.ALWAYS,
      outcome,
      after,
    };
    const currentLimit = { requestsPerUnit: limit, unit: Unit.MINUTE, name: "" };
    const context = { currentLimit, near: nearLimit(limit, 0.8) };
    // Old content, which `tally` must overwrite.
    const status = { code: Code.UNKNOWN, currentLimit, limitRemaining: 77, durationUntilReset: 77 };
    tally(count, statistics, context, shadowMode, 60_018, status);
    assert.equal(status.code, Code[code]);
    assert.equal(status.limitRemaining, remaining);
    assert.equal(status.durationUntilReset, outcome === ALLOWED || outcome === DENIED ? 0 : 42);
    assert.deepEqual(statistics, {
      totalHits: 0,
      overLimit: expected.over ?? 0,
      nearLimit: expected.near ?? 0,
      withinLimit: expected.within ?? 0,
      shadowMode: expected.shadow ?? 0,
      overLimitWithLocalCache: expected.local ?? 0,
      totalNegativeHits: 0,
    });
  });
}

test("no statistic decreases for any limit, ratio and hits", () => {
  const large = fc.oneof(
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 2 ** 24 - 2, max: 2 ** 24 + 2 }),
    fc.integer({ min: 2 ** 32 - 300, max: 2 ** 32 - 1 }),
    fc.maxSafeNat(),
  );
  const ratios = fc.oneof(fc.constantFrom(0, 0.8, 0.99999999, 1), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(large, ratios, large, large, (limit, ratio, before, hits) => {
      const near = nearLimit(limit, ratio);
      assert.ok(near >= 0 && near <= limit, `${near} of ${limit}`);
      const statistics = new MapStatistics().rule({ domain: "d", levels: ["k"] });
      const after = Math.min(before + hits, Number.MAX_SAFE_INTEGER);
      const currentLimit = { requestsPerUnit: limit, unit: Unit.MINUTE, name: "" };
      const count = {
        stem: "k:",
        windowStart: 0,
        windowSize: 60,
        hits: after - before,
        limit,
        refuses: Refuses.ALWAYS,
        outcome: COUNTED,
        after,
      };
      const status = { code: Code.UNKNOWN, currentLimit, limitRemaining: 0, durationUntilReset: 0 };
      tally(count, statistics, { currentLimit, near }, false, 0, status);
      for (const [name, value] of Object.entries(statistics)) assert.ok(value >= 0, `${name} is ${value}`);
      assert.ok(statistics.nearLimit <= count.hits);
    }),
    { numRuns: 1000 },
  );
});

test("near limit is never above the limit", () => {
  for (const limit of [4_294_967_295, 16_777_219, 33_554_435, 1])
    assert.equal(nearLimit(limit, 1) <= limit, true);
  assert.equal(nearLimit(4_294_967_295, 1), 4_294_967_295);
});

test("near limit is the floor in 32-bit floats", () => {
  const ratio08 = [
    [1, 0],
    [2, 1],
    [3, 2],
    [5, 4],
    [7, 5],
    [9, 7],
    [10, 8],
    [15, 12],
    [20, 16],
    [33, 26],
    [100, 80],
    [16777217, 13421773],
  ];
  for (const [limit, near] of ratio08) assert.equal(nearLimit(limit!, 0.8), near, `0.8 of ${limit}`);
  assert.equal(nearLimit(10, 0.7), 7);
  assert.equal(nearLimit(30, 0.7), 21);
});
