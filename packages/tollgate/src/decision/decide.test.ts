import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Outcome } from "../counters/store.ts";
import {
  Code,
  type Descriptor,
  type RateLimitRequest,
  type RateLimitResponse,
  Unit,
} from "../protocol/messages.ts";
import type { Rule, RuleSet } from "../rules/rule.ts";
import {
  descriptor,
  MapStatistics,
  MapStore,
  plainOptions,
  request,
  rule,
  ruleSet,
} from "./decide.fixture.ts";
import { Decider, type DecisionOptions } from "./decide.ts";
import { UNLIMITED_REMAINING } from "./scratch.ts";

const NOW = 1_783_296_005_250;

function setUp(rules: Record<string, Rule>, options: Partial<DecisionOptions> = {}) {
  const statistics = new MapStatistics();
  const store = new MapStore();
  const decider = new Decider({ ...plainOptions, ...options }, statistics, store);
  const set = ruleSet(rules);
  const ask = (of: RateLimitRequest, at = NOW, rulesNow: RuleSet | undefined = set) =>
    decider.decide(decider.prepare(of, rulesNow), at, 0) as RateLimitResponse;
  function codes(...descriptors: Descriptor[]) {
    const response = ask(request(...descriptors));
    const name = (code: Code) => (code === Code.OK ? "OK" : "OVER");
    return [name(response.overallCode), ...response.statuses.map(({ code }) => name(code))].join(" ");
  }
  return { statistics, store, decider, set, ask, codes };
}

const refusals: [string, RateLimitRequest, string, string][] = [
  [
    "an empty domain",
    { domain: "", descriptors: [descriptor("k")], hitsAddend: 0 },
    "INVALID_ARGUMENT",
    "rate limit domain must not be empty",
  ],
  [
    "no descriptors",
    { domain: "d", descriptors: [], hitsAddend: 0 },
    "INVALID_ARGUMENT",
    "rate limit descriptor list must not be empty",
  ],
  [
    "an override without a unit",
    request(descriptor("k", { limit: { requestsPerUnit: 1, unit: 0 } })),
    "INVALID_ARGUMENT",
    "rate limit override of a descriptor has the unknown unit 0; it must be one of SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK",
  ],
  [
    "an override with a multiplier of 0",
    request(descriptor("k", { limit: { requestsPerUnit: 1, unit: 2, unitMultiplier: 0 } })),
    "INVALID_ARGUMENT",
    "rate limit override of a descriptor has the unit multiplier 0; with MINUTE it must be from 1 to 5256000",
  ],
  [
    "an override with a window longer than ten years",
    request(descriptor("k", { limit: { requestsPerUnit: 1, unit: 6, unitMultiplier: 11 } })),
    "INVALID_ARGUMENT",
    "rate limit override of a descriptor has the unit multiplier 11; with YEAR it must be from 1 to 10",
  ],
  [
    "an override with an unknown unit",
    request(descriptor("k", { limit: { requestsPerUnit: 1, unit: 8 } })),
    "INVALID_ARGUMENT",
    "rate limit override of a descriptor has the unknown unit 8; it must be one of SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK",
  ],
];
for (const [name, of, code, message] of refusals) {
  test(`a request with ${name} is refused`, () => {
    assert.throws(() => setUp({ k: rule() }).ask(of), { name: "DecisionError", code, message });
  });
}

test("an override may have a window of ten years", () => {
  const { ask } = setUp({ k: rule() });
  for (const [unit, unitMultiplier] of [
    [Unit.SECOND, 315_360_000],
    [Unit.YEAR, 10],
  ] as const) {
    const { statuses } = ask(
      request(descriptor("k", { limit: { requestsPerUnit: 1, unit, unitMultiplier } })),
    );
    assert.deepEqual(statuses[0]!.currentLimit, { requestsPerUnit: 1, unit, unitMultiplier, name: "" });
  }
});

test("a decision without rules is an error", () => {
  const { decider } = setUp({});
  assert.throws(() => decider.prepare(request(descriptor("k")), undefined), {
    code: "UNAVAILABLE",
    message: "no rate limit configuration loaded",
  });
});

test("each descriptor is counted and answered with its remaining hits", () => {
  const { ask, statistics, store } = setUp({ k: rule({ requestsPerUnit: 2, name: "n" }) });
  const first = ask(request(descriptor("k")));
  assert.deepEqual(first, {
    overallCode: Code.OK,
    statuses: [
      {
        code: Code.OK,
        currentLimit: { requestsPerUnit: 2, unit: Unit.MINUTE, name: "n" },
        limitRemaining: 1,
        durationUntilReset: 55,
      },
    ],
    responseHeadersToAdd: [],
    dynamicMetadata: undefined,
  });
  assert.equal(ask(request(descriptor("k"))).statuses[0]!.limitRemaining, 0);
  assert.equal(ask(request(descriptor("k"))).overallCode, Code.OVER_LIMIT);
  assert.equal(statistics.rules.get("d.k")!.totalHits, 3);
  assert.deepEqual([...store.counters], [["d|k=v|minute:1783296000", 3]]);
  assert.equal(
    ask(request(descriptor("k")), NOW + 55_000).overallCode,
    Code.OK,
    "the next window starts afresh",
  );
});

test("a descriptor without a rule passes and is not counted", () => {
  const { codes, store, statistics } = setUp({ k: rule() });
  assert.equal(codes(descriptor("other")), "OK OK");
  assert.equal(store.asked, 0);
  assert.equal(statistics.rules.size, 0);
});

test("an unknown domain passes and counts domain_not_found per descriptor, overrides included", () => {
  const { ask, statistics } = setUp({ k: rule() });
  const limit = { requestsPerUnit: 0, unit: Unit.SECOND };
  const of = { domain: "x", descriptors: [descriptor("k"), descriptor("k", { limit })], hitsAddend: 0 };
  assert.equal(ask(of).overallCode, Code.OK);
  assert.equal(statistics.counters.get("ratelimit.service.rate_limit.x.domain_not_found")!.value, 2);
});

test("hits: the descriptor's, or else the request's, or else 1; a descriptor's 0 reads without counting", () => {
  const { ask, store } = setUp({ k: rule({ requestsPerUnit: 100 }) });
  const count = () => [...store.counters.values()][0] ?? 0;
  const steps: [number | undefined, number, number][] = [
    [undefined, 0, 1],
    [undefined, 5, 6],
    [7, 5, 13],
    [0, 5, 13],
    [0, 0, 13],
  ];
  for (const [own, whole, expected] of steps) {
    ask({ domain: "d", descriptors: [descriptor("k", { hitsAddend: own })], hitsAddend: whole });
    assert.equal(count(), expected);
  }
});

test("refunds lower the counter, never below 0, and count in total_negative_hits only", () => {
  const { ask, store, statistics } = setUp({ k: rule() });
  ask(request(descriptor("k", { hitsAddend: 3 })));
  const before = { ...statistics.rules.get("d.k")! };
  const back = ask(request(descriptor("k", { hitsAddend: 2, isNegativeHits: true })));
  assert.equal(back.statuses[0]!.limitRemaining, 9);
  ask(request(descriptor("k", { hitsAddend: 50, isNegativeHits: true })));
  assert.deepEqual([...store.counters.values()], [0]);
  assert.deepEqual(statistics.rules.get("d.k"), { ...before, totalNegativeHits: 52 });
});

test("an unlimited rule answers the greatest uint32 without the store, and counts hits as within", () => {
  const { ask, store, statistics } = setUp({ k: rule({ unlimited: true, unit: Unit.UNKNOWN }) });
  const { statuses } = ask(request(descriptor("k", { hitsAddend: 4 })));
  assert.deepEqual(statuses[0], {
    code: Code.OK,
    currentLimit: undefined,
    limitRemaining: UNLIMITED_REMAINING,
    durationUntilReset: 0,
  });
  assert.equal(store.asked, 0);
  const { totalHits, withinLimit, overLimit } = statistics.rules.get("d.k")!;
  assert.deepEqual([totalHits, withinLimit, overLimit], [4, 4, 0]);
});

test("a replaced rule is neither counted nor reported", () => {
  const { ask, store, statistics } = setUp({
    a: rule({ requestsPerUnit: 0, name: "a" }),
    b: rule({ path: ["b"], replaces: ["a"] }),
  });
  const { overallCode, statuses } = ask(request(descriptor("a"), descriptor("b")));
  assert.equal(overallCode, Code.OK);
  assert.equal(statuses[0]!.currentLimit, undefined);
  assert.deepEqual([...store.counters.keys()], ["d|b=v|minute:1783296000"]);
  assert.equal(statistics.rules.get("d.a")!.totalHits, 0);
});

test("a request's override is used unchanged, and its counter is separate from those of rules with the same entries", () => {
  const { ask, store, statistics } = setUp({ k: rule({ requestsPerUnit: 0 }) });
  const limit = { requestsPerUnit: 1, unit: Unit.MINUTE };
  const { statuses } = ask(request(descriptor("k", { limit })));
  assert.deepEqual(statuses[0]!.currentLimit, { requestsPerUnit: 1, unit: Unit.MINUTE, name: "" });
  assert.equal(ask(request(descriptor("k"))).overallCode, Code.OVER_LIMIT);
  assert.deepEqual([...store.counters], [["d|k=v|minute:1783296000", 2]]);
  assert.equal(statistics.rules.get("d.k_v")!.totalHits, 1);
});

// R: a regular rule. Q: a quota rule.
const ok = { requestsPerUnit: 10 };
const over = { requestsPerUnit: 0 };
const overallCases: [string, Record<string, Rule>, string[], Partial<DecisionOptions>, string][] = [
  ["R over, Q ok", { a: rule(over), b: rule({ ...ok, quotaMode: true }) }, ["a", "b"], {}, "OVER OVER OK"],
  [
    "R ok, single Q over",
    { a: rule(ok), b: rule({ ...over, quotaMode: true }) },
    ["a", "b"],
    {},
    "OVER OK OVER",
  ],
  [
    "Q over, Q ok",
    { a: rule({ ...over, quotaMode: true }), b: rule({ ...ok, quotaMode: true }) },
    ["a", "b"],
    {},
    "OK OVER OK",
  ],
  [
    "Q over, Q over",
    { a: rule({ ...over, quotaMode: true }), b: rule({ ...over, quotaMode: true }) },
    ["a", "b"],
    {},
    "OVER OVER OVER",
  ],
  [
    "global quota, one of two over",
    { a: rule(over), b: rule(ok) },
    ["a", "b"],
    { quotaMode: true },
    "OK OVER OK",
  ],
  [
    "global quota, a descriptor without a rule passes",
    { a: rule(over) },
    ["a", "none"],
    { quotaMode: true },
    "OK OVER OK",
  ],
  [
    "global quota, unlimited is ignored",
    { a: rule(over), u: rule({ unlimited: true, unit: Unit.UNKNOWN }) },
    ["a", "u"],
    { quotaMode: true },
    "OVER OVER OK",
  ],
  ["any over is over", { a: rule(ok), b: rule(over) }, ["a", "b"], {}, "OVER OK OVER"],
  ["rule in shadow mode", { a: rule({ ...over, shadowMode: true }) }, ["a"], {}, "OK OK"],
  [
    "global shadow mode does not change the statuses",
    { a: rule(over) },
    ["a"],
    { shadowMode: true },
    "OK OVER",
  ],
];
for (const [name, rules, keys, options, expected] of overallCases) {
  test(`overall code: ${name}`, () => {
    const { codes } = setUp(rules, options);
    assert.equal(codes(...keys.map((key) => descriptor(key))), expected);
  });
}

test("global shadow mode counts only the calls whose code it changed", () => {
  const { codes, statistics } = setUp({ a: rule(over), b: rule(ok) }, { shadowMode: true });
  codes(descriptor("a"), descriptor("a"));
  codes(descriptor("b"));
  assert.equal(statistics.counters.get("ratelimit.service.global_shadow_mode")!.value, 1);
});

test("with stop-incrementing only the counter above its limit grows", () => {
  const { ask, store, statistics } = setUp(
    { a: rule({ requestsPerUnit: 10 }), b: rule({ requestsPerUnit: 5 }) },
    { stopIncrementing: true },
  );
  for (let call = 0; call < 5; call++) ask(request(descriptor("a"), descriptor("b")));
  const sixth = ask(request(descriptor("a"), descriptor("b")));
  assert.deepEqual(
    sixth.statuses.map(({ code, limitRemaining }) => [code, limitRemaining]),
    [
      [Code.OK, 5],
      [Code.OVER_LIMIT, 0],
    ],
  );
  assert.deepEqual([...store.counters.values()], [5, 6]);
  const { a, b } = { a: statistics.rules.get("d.a")!, b: statistics.rules.get("d.b")! };
  assert.deepEqual([a.totalHits, a.withinLimit, b.totalHits, b.withinLimit, b.overLimit], [6, 5, 6, 5, 1]);
  const look = ask(request(descriptor("b", { hitsAddend: 0 })));
  assert.equal(look.overallCode, Code.OVER_LIMIT, "a read of a counter above its limit is refused");
});

const limited = { requestsPerUnit: 0 };
const holding: [string, Parameters<typeof setUp>[0], Partial<DecisionOptions>, rest: number][] = [
  ["a plain rule holds the others back", { over: rule(limited) }, {}, 0],
  ["a rule in shadow mode holds no others back", { over: rule({ ...limited, shadowMode: true }) }, {}, 1],
  ["the only quota rule holds the others back", { over: rule({ ...limited, quotaMode: true }) }, {}, 0],
  [
    "a quota rule beside one with quota left holds no others back",
    { over: rule({ ...limited, quotaMode: true }), left: rule({ quotaMode: true }) },
    {},
    1,
  ],
  [
    "a quota rule beside one in shadow mode holds no others back",
    {
      over: rule({ ...limited, quotaMode: true }),
      shadow: rule({ ...limited, quotaMode: true, shadowMode: true }),
    },
    {},
    1,
  ],
  [
    "QUOTA_MODE: a rule beside one with quota left holds no others back",
    { over: rule(limited) },
    { quotaMode: true },
    1,
  ],
  ["SHADOW_MODE does not change the counting", { over: rule(limited) }, { shadowMode: true }, 0],
];
for (const [name, rules, options, rest] of holding)
  test(`with stop-incrementing: ${name}`, () => {
    const { ask, store, statistics } = setUp(
      { ...rules, rest: rule() },
      { stopIncrementing: true, ...options },
    );
    ask(request(...[...Object.keys(rules), "rest"].map((key) => descriptor(key))));
    const counters = [...store.counters].map(([key, value]) => [/\|(\w+)=/.exec(key)![1], value]);
    assert.deepEqual(Object.fromEntries(counters), {
      ...Object.fromEntries(Object.keys(rules).map((key) => [key, 1])),
      ...(rest > 0 && { rest }),
    });
    assert.equal(statistics.rules.get("d.rest")!.withinLimit, rest);
    assert.equal(statistics.rules.get("d.rest")!.totalHits, 1);
    assert.equal(statistics.rules.get("d.over")!.overLimit, 1);
  });

test("after a failure of the store, `deny` answers with the limit and without a reset", () => {
  const { ask, store, statistics } = setUp({ a: rule() });
  store.outcome = Outcome.DENIED;
  const { overallCode, statuses } = ask(request(descriptor("a")));
  assert.equal(overallCode, Code.OVER_LIMIT);
  assert.deepEqual(statuses[0], {
    code: Code.OVER_LIMIT,
    currentLimit: { requestsPerUnit: 10, unit: Unit.MINUTE, name: "" },
    limitRemaining: 0,
    durationUntilReset: 0,
  });
  assert.equal(statistics.rules.get("d.a")!.totalHits, 1);
});

test("a new rule set is used at once, also for descriptors that were resolved before", () => {
  const { ask } = setUp({ k: rule({ requestsPerUnit: 10 }) });
  ask(request(descriptor("k")));
  const next = ruleSet({ k: rule({ requestsPerUnit: 3 }) }, 2);
  const { statuses } = ask(request(descriptor("k")), NOW, next);
  assert.equal(statuses[0]!.currentLimit!.requestsPerUnit, 3);
  assert.equal(statuses[0]!.limitRemaining, 1, "the counter continues");
});

test("metadata of the rules that passed is merged, the first value wins, and the rules do not change", () => {
  const first = { name: "one", deep: { a: 1 } };
  const rules = {
    a: rule({ metadata: first }),
    b: rule({ metadata: { name: "two", deep: { a: 2, b: 3 }, more: [1] } }),
    c: rule({ ...over, metadata: { never: true } }),
  };
  const { ask } = setUp(rules, { dynamicMetadata: true });
  const of = {
    ...request(descriptor("a", { hitsAddend: 2 }), descriptor("b"), descriptor("c")),
    hitsAddend: 1,
  };
  for (let call = 0; call < 2; call++) {
    assert.deepEqual(ask(of).dynamicMetadata, {
      domain: "d",
      descriptors: [{ entries: ["a=v"], hitsAddend: 2 }, { entries: ["b=v"] }, { entries: ["c=v"] }],
      hitsAddend: 1,
      metadata: { name: "one", deep: { a: 1, b: 3 }, more: [1] },
    });
  }
  assert.deepEqual(first, { name: "one", deep: { a: 1 } });
});

test("for any sequence of hits the admitted sum stays within the limit and the statistics add up", () => {
  const step = fc.record({
    hits: fc.integer({ min: 0, max: 12 }),
    back: fc.boolean(),
    advance: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 30 }),
      fc.array(step, { maxLength: 40 }),
      fc.boolean(),
      (limit, steps, stop) => {
        const { ask, statistics } = setUp(
          { k: rule({ requestsPerUnit: limit }) },
          { stopIncrementing: stop },
        );
        let at = NOW;
        let window = -1;
        let admitted = 0;
        let remaining = limit;
        let total = 0;
        let straddling = 0;
        for (const { hits, back, advance } of steps) {
          at += advance * 1000;
          const start = Math.floor(at / 60_000);
          if (start !== window) [window, admitted, remaining] = [start, 0, limit];
          const status = ask(request(descriptor("k", { hitsAddend: hits, isNegativeHits: back })), at)
            .statuses[0]!;
          if (back) {
            admitted = Math.max(0, admitted - hits);
          } else {
            total += hits;
            if (status.code === Code.OK) admitted += hits;
            else straddling += Math.min(hits, remaining);
            assert.ok(
              status.limitRemaining <= remaining,
              "remaining rises within a window only after a refund",
            );
          }
          assert.ok(admitted <= limit);
          remaining = status.limitRemaining;
        }
        const { totalHits, withinLimit, overLimit, nearLimit } = statistics.rules.get("d.k") ?? {
          totalHits: 0,
          withinLimit: 0,
          overLimit: 0,
          nearLimit: 0,
        };
        assert.equal(totalHits, total);
        assert.equal(withinLimit + overLimit + straddling, total);
        assert.ok(nearLimit <= totalHits);
      },
    ),
    { numRuns: 300 },
  );
});

test("responses of several decisions in one turn of the event loop have memory of their own", async () => {
  const { ask } = setUp({ low: rule({ requestsPerUnit: 1 }), high: rule({ requestsPerUnit: 1000 }) });
  // A traced call reads its response after a microtask. Meanwhile, further calls of the same read are decided.
  const remaining = await Promise.all(
    ["low", "high", "low", "high"].map(async (key) => {
      const response = await ask(request(descriptor(key)));
      return [response.overallCode, response.statuses[0]!.limitRemaining];
    }),
  );
  assert.deepEqual(remaining, [
    [Code.OK, 0],
    [Code.OK, 999],
    [Code.OVER_LIMIT, 0],
    [Code.OK, 998],
  ]);
});
