/**
 * The combinations of limits: algorithm x shadow mode x near limit x over-limit cache x stop-incrementing x list x refund
 * x override. Each combination makes the same requests against a limit of 10 and has a row for each answer.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rulesOf } from "../../test/rules/helpers.ts";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { OverLimitCache } from "../counters/over-limit-cache.ts";
import { type CounterStore, HoldBack, Outcome, Refuses } from "../counters/store.ts";
import { createStatistics } from "../observe/registry.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import type { AdjustmentRecord } from "../overrides/record.ts";
import { OverrideTable } from "../overrides/table.ts";
import { Code, type Descriptor, type RateLimitResponse, Unit } from "../protocol/messages.ts";
import { MergedStatistics } from "../service/threads/merged-statistics.ts";
import { ThreadStatistics } from "../service/threads/thread-statistics.ts";
import { descriptor, MapStatistics, plainOptions, request } from "./decide.fixture.ts";
import { Decider, type DecisionOptions } from "./decide.ts";
import { createKeyFormat } from "./key-format.ts";
import { stemsOf } from "./resolve-limits.ts";

/** 12 hours before midnight UTC, far from the end of every window. */
const NOW = Date.UTC(2026, 10, 25, 12);
const { OK, OVER_LIMIT } = Code;
const headers = { format: "draft-10", limit: "L", remaining: "R", reset: "S" } as const;

interface Setup {
  readonly yaml: string;
  readonly cache?: boolean;
  readonly options?: Partial<DecisionOptions>;
}

function setUp({ yaml, cache = false, options = {} }: Setup) {
  const rules = rulesOf(yaml);
  const embedded = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
  const store: CounterStore = new OverLimitCache(embedded, { sizeInBytes: cache ? 100_000 : 0 });
  const statistics = new MapStatistics();
  const decider = new Decider({ ...plainOptions, ...options }, statistics, store);
  const ask = (descriptors: Descriptor[], now = NOW): RateLimitResponse => {
    const prepared = decider.prepare(request(...descriptors), rules);
    const response = decider.decide(prepared, now, 0);
    assert.ok(!(response instanceof Promise));
    return structuredClone(response);
  };
  return { ask, statistics, embedded, rules };
}

function hitsOf(hits: number): Partial<Descriptor> {
  return { hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 };
}

/** The count of the plain minute counter of a key. */
function countOf(store: EmbeddedStore, key: string): number {
  const seconds = Math.floor(NOW / 1000);
  const count = {
    stem: `d|${key}=v|day:`,
    windowStart: seconds - (seconds % 86_400),
    windowSize: 86_400,
    hits: 0,
    limit: 1,
    refuses: Refuses.NEVER,
    outcome: Outcome.COUNTED as Outcome,
    after: 0,
  };
  store.count({ counts: [count], holdBack: HoldBack.NEVER, now: NOW, deadline: 0 });
  return count.after;
}

/** Limits of 10. All of them have a window so long that nothing changes during a test. */
const limits: readonly (readonly [name: string, countsAll: boolean, yaml: string])[] = [
  ["fixed window", true, "unit: day"],
  ["fixed window of two days", true, "unit: day, unit_multiplier: 2"],
  ["calendar day", true, "unit: day, calendar: { time_zone: Europe/Berlin }"],
  ["fixed window, strict", true, "unit: day, strict: true"],
  ["fixed window, accepted hits", false, "unit: day, count: accepted"],
  ["calendar day, accepted hits", false, "unit: day, count: accepted, calendar: { time_zone: Asia/Tokyo }"],
  ["fixed window of 36 hours, accepted hits", false, "unit: hour, unit_multiplier: 36, count: accepted"],
  ["sliding window", false, "unit: day, algorithm: sliding_window"],
  ["sliding window of 36 hours", false, "unit: hour, unit_multiplier: 36, algorithm: sliding_window"],
  ["token bucket", false, "unit: day, algorithm: token_bucket"],
  ["token bucket with a burst", false, "unit: year, algorithm: token_bucket, burst: 10"],
];

type Statistic = keyof RuleStatistics;

/** hits, code and remaining, the statistics that change, and whether the other descriptor is held back. */
interface Row {
  readonly hits: number;
  readonly code: Code;
  readonly remaining: number;
  readonly adds: Partial<Record<Statistic, number>>;
  readonly over?: number;
}

/** With 0.8 hits above 8 are near the limit. */
const acceptedRows: readonly Row[] = [
  { hits: 7, code: OK, remaining: 3, adds: { totalHits: 7, withinLimit: 7 } },
  { hits: 2, code: OK, remaining: 1, adds: { totalHits: 2, withinLimit: 2, nearLimit: 1 } },
  { hits: 3, code: OVER_LIMIT, remaining: 0, adds: { totalHits: 3, overLimit: 3 }, over: 3 },
  { hits: 0, code: OK, remaining: 1, adds: {} },
  { hits: 1, code: OK, remaining: 0, adds: { totalHits: 1, withinLimit: 1, nearLimit: 1 } },
  { hits: 0, code: OVER_LIMIT, remaining: 0, adds: {}, over: 0 },
  { hits: 1, code: OVER_LIMIT, remaining: 0, adds: { totalHits: 1, overLimit: 1 }, over: 1 },
  { hits: -4, code: OK, remaining: 4, adds: { totalNegativeHits: 4 } },
  { hits: 4, code: OK, remaining: 0, adds: { totalHits: 4, withinLimit: 4, nearLimit: 2 } },
  { hits: -100, code: OK, remaining: 10, adds: { totalNegativeHits: 100 } },
  { hits: 11, code: OVER_LIMIT, remaining: 0, adds: { totalHits: 11, overLimit: 11 }, over: 11 },
  { hits: 10, code: OK, remaining: 0, adds: { totalHits: 10, withinLimit: 10, nearLimit: 2 } },
];

const cached = { overLimitWithLocalCache: 1 };
/** With the cache, `known` rows also count `over_limit_with_local_cache`, and the counter does not grow. */
const countedRows = (cache: boolean, strict: boolean): readonly Row[] => [
  { hits: 7, code: OK, remaining: 3, adds: { totalHits: 7, withinLimit: 7 } },
  { hits: 2, code: OK, remaining: 1, adds: { totalHits: 2, withinLimit: 2, nearLimit: 1 } },
  { hits: 1, code: OK, remaining: 0, adds: { totalHits: 1, withinLimit: 1, nearLimit: 1 } },
  strict
    ? { hits: 0, code: OVER_LIMIT, remaining: 0, adds: {}, over: 0 }
    : { hits: 0, code: OK, remaining: 0, adds: {} },
  { hits: 1, code: OVER_LIMIT, remaining: 0, adds: { totalHits: 1, overLimit: 1 }, over: 1 },
  {
    hits: 1,
    code: OVER_LIMIT,
    remaining: 0,
    adds: { totalHits: 1, overLimit: 1, ...(cache && cached) },
    over: 1,
  },
  { hits: 0, code: OVER_LIMIT, remaining: 0, adds: {}, over: 0 },
  // 12 were counted, or 11 with the cache. After the refund of one the counter is still above its limit, or at it.
  { hits: -1, code: cache ? OK : OVER_LIMIT, remaining: 0, adds: { totalNegativeHits: 1 } },
  { hits: -4, code: OK, remaining: cache ? 4 : 3, adds: { totalNegativeHits: 4 } },
  { hits: -100, code: OK, remaining: 10, adds: { totalNegativeHits: 100 } },
  {
    hits: 12,
    code: OVER_LIMIT,
    remaining: 0,
    adds: { totalHits: 12, overLimit: 2, nearLimit: 2 },
    over: 2,
  },
];

/** The source of the limit's number: the rule, an operator's override of it, or the request. */
const sources = ["rule", "override", "request"] as const;
const both = [false, true];

interface Combination {
  readonly name: string;
  readonly countsAll: boolean;
  readonly yaml: string;
  readonly source: (typeof sources)[number];
  readonly shadow: boolean;
  readonly cache: boolean;
  readonly stop: boolean;
  readonly listed: boolean;
}

const combinations: readonly Combination[] = limits.flatMap(([name, countsAll, yaml]) =>
  sources.flatMap((source) =>
    both.flatMap((shadow) =>
      both.flatMap((cache) =>
        both.flatMap((stop) =>
          both.map((listed) => ({ name, countsAll, yaml, source, shadow, cache, stop, listed })),
        ),
      ),
    ),
  ),
);

/** A list counts accepted hits only. */
function isPossible({ countsAll, yaml, source, shadow, listed }: Combination): boolean {
  // A request's own limit has a number and a unit only, and no rule beside it.
  if (source === "request") return /^unit: day(, unit_multiplier: 2)?$/.test(yaml) && !shadow && !listed;
  return !(listed && countsAll);
}

/** The rules, the operator's override and the descriptor of a combination. All of them have a limit of 10. */
function limitedBy({ yaml, source, shadow, listed }: Combination) {
  const inRule = source === "rule" ? 10 : 1000;
  const settings = (listed ? yaml.replace(", count: accepted", "") : yaml).replace(
    /burst: 10/,
    `burst: ${inRule}`,
  );
  const limit = `{ requests_per_unit: ${inRule}, ${settings} }`;
  const wide = "{ requests_per_unit: 1000, unit: week, algorithm: sliding_window, name: wide }";
  const own = listed ? `rate_limits: [${wide}, ${limit}]` : `rate_limit: ${limit}`;
  const unit = /unit_multiplier: 36/.test(yaml) ? "36_hour" : /unit: (\w+)/.exec(yaml)![1]!;
  const record: AdjustmentRecord = {
    id: "x",
    kind: "override",
    domain: "d",
    entries: [{ key: "k", value: "v" }],
    by: "alice",
    at: NOW,
    requestsPerUnit: 10,
    ...(yaml.includes("token_bucket") && { burst: 10 }),
    ...(listed && { limit: unit }),
  };
  const unitMultiplier = yaml.includes("unit_multiplier: 2") ? 2 : undefined;
  return {
    yaml: `
domain: d
descriptors:
  - { key: k, shadow_mode: ${shadow}, ${own} }
  - { key: other, rate_limit: { unit: day, requests_per_unit: 1000 } }
`,
    overrides: source === "override" ? [record] : [],
    own: source === "request" ? { limit: { requestsPerUnit: 10, unit: Unit.DAY, unitMultiplier } } : {},
    /** The name of its statistics. */
    metric: source === "request" ? "d.k_v" : "d.k",
    unit,
  };
}

describe("combinations", () => {
  for (const combination of combinations.filter(isPossible)) {
    const { name, countsAll, yaml, source, shadow, cache, stop, listed } = combination;
    const title = [
      name,
      source !== "rule" && `limit of the ${source}`,
      shadow && "shadow mode",
      cache && "over-limit cache",
      stop && "stop incrementing",
      listed && "in a list",
    ];
    test(title.filter(Boolean).join(", "), () => {
      const limited = limitedBy(combination);
      const { ask, statistics, embedded } = setUp({
        yaml: limited.yaml,
        cache,
        options: {
          stopIncrementing: stop,
          overrides: { current: OverrideTable.of(limited.overrides, NOW), now: () => NOW },
        },
      });
      const strict = yaml.includes("strict");
      let others = 0;
      const sums: Record<string, number> = {};
      const rows = countsAll ? countedRows(cache, strict) : acceptedRows;
      rows.forEach(({ hits, code, remaining, adds, over = 0 }, index) => {
        const row = `row ${index + 1}, ${hits} hits`;
        const response = ask([descriptor("k", { ...hitsOf(hits), ...limited.own }), descriptor("other")]);
        const [status, other] = response.statuses;
        const isOver = code === OVER_LIMIT;
        assert.equal(status!.code, shadow ? OK : code, row);
        assert.equal(status!.limitRemaining, remaining, row);
        assert.equal(status!.currentLimit?.requestsPerUnit, 10, row);
        assert.ok(status!.durationUntilReset >= 1, row);
        assert.equal(response.overallCode, shadow ? OK : code, row);
        // A refund refuses nothing.
        if (!(stop && isOver && !shadow && hits >= 0)) others += 1;
        assert.equal(other!.limitRemaining, 1000 - others, `${row}: the other descriptor`);
        for (const [statistic, value] of Object.entries(adds))
          sums[statistic] = (sums[statistic] ?? 0) + value;
        if (shadow) sums.shadowMode = (sums.shadowMode ?? 0) + over;
        const found = Object.entries(statistics.rules.get(limited.metric)!).filter(
          ([, value]) => value !== 0,
        );
        const expected = Object.entries(sums).filter(([, value]) => value !== 0);
        assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected), row);
      });
      assert.equal(countOf(embedded, "other"), others, "the other counter");
      if (!listed) return;
      const refused = rows.reduce((sum, { over = 0 }) => sum + over, 0);
      assert.equal(statistics.rules.get(`d.k.limit.${limited.unit}`)!.overLimit, refused);
      assert.equal(statistics.rules.get("d.k.limit.wide")!.overLimit, 0);
    });
  }
});

describe("a request's own limit", () => {
  for (const [name, , yaml] of limits)
    test(`stays a plain fixed window beside a rule with: ${name}`, () => {
      const { ask, embedded } = setUp({
        yaml: `{ domain: d, descriptors: [{ key: k, rate_limit: { requests_per_unit: 10, ${yaml} } }] }`,
      });
      const limit = { requestsPerUnit: 2, unit: Unit.DAY };
      const own = () => ask([descriptor("k", { limit })]).statuses[0]!;
      assert.deepEqual(
        [own(), own(), own()].map(({ code, limitRemaining }) => [code, limitRemaining]),
        [
          [OK, 1],
          [OK, 0],
          [OVER_LIMIT, 0],
        ],
      );
      assert.equal(countOf(embedded, "k"), 3, "under today's key");
      const used = /^unit: day(, (count|strict)[^,]*)?$/.test(yaml) ? 3 : 0;
      assert.equal(ask([descriptor("k", hitsOf(0))]).statuses[0]!.limitRemaining, 10 - used);
    });
});

describe("several limits", () => {
  const yaml = `
domain: d
descriptors:
  - key: k
    rate_limits:
      - { requests_per_unit: 5, unit: minute, algorithm: token_bucket, name: burst }
      - { requests_per_unit: 7, unit: day }
      - { requests_per_unit: 100, unit: day, unit_multiplier: 30 }
`;

  test("the status shows the tightest limit, and the headers list all", () => {
    const { ask } = setUp({ yaml, options: { headers } });
    const first = ask([descriptor("k", hitsOf(4))]);
    assert.deepEqual(first.statuses[0], {
      code: OK,
      currentLimit: { requestsPerUnit: 5, unit: Unit.MINUTE, name: "burst" },
      limitRemaining: 1,
      durationUntilReset: 48,
    });
    assert.deepEqual(
      first.responseHeadersToAdd.map(({ value }) => value),
      [
        '"d.k.burst";q=5;w=60, "d.k.day";q=7;w=86400, "d.k.30_day";q=100;w=2592000',
        `"d.k.burst";r=1;t=48, "d.k.day";r=3;t=43200, "d.k.30_day";r=96;t=${2_592_000 - (Math.floor(NOW / 1000) % 2_592_000)}`,
      ],
    );
    // Two limits refuse: the one with the longest reset is shown.
    const second = ask([descriptor("k", hitsOf(4))]);
    assert.equal(second.overallCode, OVER_LIMIT);
    assert.equal(second.statuses[0]!.currentLimit?.unit, Unit.DAY);
    assert.equal(second.statuses[0]!.durationUntilReset, 43_200);
    assert.equal(second.responseHeadersToAdd.at(-1)!.value, "43200");
    // Nothing was counted: a minute later the bucket is full, and three of the day are left.
    const third = ask([descriptor("k", hitsOf(3))], NOW + 60_000);
    assert.deepEqual([third.overallCode, third.statuses[0]!.limitRemaining], [OK, 0]);
  });

  test("every limit that refuses counts the refused hits", () => {
    const { ask, statistics } = setUp({ yaml });
    ask([descriptor("k", hitsOf(4))]);
    ask([descriptor("k", hitsOf(4))]);
    ask([descriptor("k", hitsOf(2))]);
    const over = (name: string) => statistics.rules.get(`d.k.limit.${name}`)!.overLimit;
    assert.deepEqual([over("burst"), over("day"), over("30_day")], [6, 4, 0]);
    assert.equal(statistics.rules.get("d.k")!.overLimit, 6);
  });

  test("the flags of a descriptor apply to all its limits", () => {
    const limits =
      "rate_limits: [{ requests_per_unit: 2, unit: day, algorithm: sliding_window }, { requests_per_unit: 5, unit: week }]";
    const { ask, statistics } = setUp({
      yaml: `
domain: d
descriptors:
  - { key: one, quota_mode: true, ${limits} }
  - { key: two, quota_mode: true, ${limits} }
  - { key: detailed, detailed_metric: true, ${limits} }
`,
      options: { stopIncrementing: true },
    });
    const overall = (one: number, two: number) =>
      ask([descriptor("one", hitsOf(one)), descriptor("two", hitsOf(two))]).overallCode;
    assert.equal(overall(2, 0), OK);
    assert.equal(overall(1, 2), OK, "a quota is left, so nothing holds its hits back");
    assert.equal(overall(1, 1), OVER_LIMIT, "no quota is left");
    assert.equal(statistics.rules.get("d.two")!.withinLimit, 2);
    ask([descriptor("detailed", hitsOf(3))]);
    const over = (name: string) => statistics.rules.get(name)?.overLimit;
    assert.deepEqual(
      [over("d.detailed_v"), over("d.detailed_v.limit.day"), over("d.detailed_v.limit.week")],
      [3, 3, 0],
    );
  });

  test("a list of a shared threshold has one counter for all values, and a value in the metric key counts for itself", () => {
    const { ask, statistics } = setUp({
      yaml: `
domain: d
descriptors:
  - { key: shared, value: "v*", share_threshold: true, rate_limits: [{ requests_per_unit: 2, unit: day }] }
  - { key: named, value: "v*", value_to_metric: true, rate_limits: [{ requests_per_unit: 2, unit: day }] }
`,
    });
    const codeOf = (key: string, value: string) =>
      ask([{ ...descriptor(key), entries: [{ key, value }] }]).overallCode;
    const values = ["v1", "v2", "v1"];
    assert.deepEqual(
      values.map((value) => codeOf("shared", value)),
      [OK, OK, OVER_LIMIT],
    );
    assert.deepEqual(
      [...values, "v1"].map((value) => codeOf("named", value)),
      [OK, OK, OK, OVER_LIMIT],
    );
    const over = (name: string) => statistics.rules.get(name)?.overLimit;
    assert.deepEqual(
      ["d.shared_v*", "d.shared_v*.limit.day", "d.named_v1.limit.day", "d.named_v2.limit.day"].map(over),
      [1, 1, 1, 0],
    );
  });

  for (const [what, value, maxDynamicKeys, key] of [
    ["beyond the bound of keys", "v", 0, "d._other"],
    ["with a longer name than a statistic may have", "v".repeat(445), 100, "d.k_v"],
    ["with a much longer name", "v".repeat(1000), 100, "d.k_v"],
  ] as const)
    test(`a refused hit is counted once for a list ${what}`, () => {
      const rules = rulesOf(`
domain: d
descriptors:
  - { key: k, detailed_metric: true, rate_limits: [{ requests_per_unit: 0, unit: day }, { requests_per_unit: 0, unit: year }] }
`);
      const registry = createStatistics({ maxDynamicKeys });
      const threads = new ThreadStatistics(maxDynamicKeys, () => {});
      const merged = createStatistics({ maxDynamicKeys });
      for (const statistics of [registry, threads]) {
        const store = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
        const decider = new Decider(plainOptions, statistics, store);
        const of = request({ ...descriptor("k"), entries: [{ key: "k", value }] });
        decider.decide(decider.prepare(of, rules), NOW, 0);
      }
      new MergedStatistics(merged).add(1, threads.take());
      for (const { counters } of [registry, merged]) {
        const found = counters
          .map((series) => [series.name, series.read(series.stats.indexOf("over_limit"))] as const)
          .filter(([name]) => name.includes(key));
        assert.deepEqual(
          found.map(([, over]) => over),
          [1],
        );
      }
    });

  test("equal descriptors of a request are decided in order", () => {
    const { ask } = setUp({ yaml });
    const codes = ask(Array.from({ length: 7 }, () => descriptor("k"))).statuses.map(({ code }) => code);
    assert.deepEqual(codes, [OK, OK, OK, OK, OK, OVER_LIMIT, OVER_LIMIT]);
  });
});

describe("descriptors that hold each other back", () => {
  const kinds: readonly (readonly [name: string, limit: string, countsAll: boolean])[] = [
    ["fixed window", "rate_limit: { unit: day, requests_per_unit: 2 }", true],
    ["two days", "rate_limit: { unit: day, unit_multiplier: 2, requests_per_unit: 2 }", true],
    ["accepted hits", "rate_limit: { unit: day, requests_per_unit: 2, count: accepted }", false],
    ["sliding window", "rate_limit: { unit: day, requests_per_unit: 2, algorithm: sliding_window }", false],
    ["token bucket", "rate_limit: { unit: year, requests_per_unit: 2, algorithm: token_bucket }", false],
    [
      "list",
      "rate_limits: [{ unit: day, requests_per_unit: 2 }, { unit: year, requests_per_unit: 9 }]",
      false,
    ],
  ];
  for (const [name, limit, countsAll] of kinds)
    for (const [otherName, otherLimit, otherCountsAll] of kinds)
      test(`${name} and ${otherName}`, () => {
        const { ask } = setUp({
          yaml: `
domain: d
descriptors:
  - { key: a, ${limit} }
  - { key: b, ${otherLimit} }
  - { key: shadow, shadow_mode: true, ${limit} }
  - { key: qa, quota_mode: true, ${limit} }
  - { key: qb, quota_mode: true, ${otherLimit} }
  - { key: third, rate_limit: { unit: year, requests_per_unit: 100, algorithm: sliding_window } }
`,
          options: { stopIncrementing: true },
        });
        /** The remaining hits of the third after hits of the first two, and what the next three hits of each find. */
        const askOf = (first: string, second: string) => {
          const { statuses } = ask([
            descriptor(first, hitsOf(3)),
            descriptor(second, hitsOf(3)),
            descriptor("third"),
          ]);
          return statuses[2]!.limitRemaining;
        };
        assert.equal(askOf("a", "b"), 100, "both exceed, and the third is held back");
        // Counted or not, each as its own algorithm says: a refund of one hit brings 3 to 2, and 0 to 0.
        const left = (key: string) => ask([descriptor(key, hitsOf(-1))]).statuses[0]!.limitRemaining;
        assert.deepEqual([left("a"), left("b")], [countsAll ? 0 : 2, otherCountsAll ? 0 : 2]);
        assert.equal(
          ask([descriptor("shadow", hitsOf(3)), descriptor("third")]).statuses[1]!.limitRemaining,
          99,
          "shadow mode holds nothing back",
        );
        const quotas = ask([descriptor("qa", hitsOf(3)), descriptor("qb", hitsOf(2)), descriptor("third")]);
        assert.deepEqual(
          [quotas.overallCode, quotas.statuses[1]!.limitRemaining, quotas.statuses[2]!.limitRemaining],
          [OK, 0, 98],
          "one quota is left",
        );
        assert.equal(askOf("qa", "qb"), 98, "no quota is left");
      });
});

describe("numbers and windows", () => {
  test("near limit and the statistics of a bucket follow its burst, not its rate", () => {
    const { ask, statistics } = setUp({
      yaml: "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: year, requests_per_unit: 1000, algorithm: token_bucket, burst: 10 } }] }",
    });
    const sums: Record<string, number> = {};
    for (const { hits, code, remaining, adds } of acceptedRows) {
      const { statuses } = ask([descriptor("k", hitsOf(hits))]);
      const [{ code: found, limitRemaining, currentLimit }] = statuses as [(typeof statuses)[0]];
      assert.deepEqual([found, limitRemaining, currentLimit?.requestsPerUnit], [code, remaining, 1000]);
      for (const [statistic, value] of Object.entries(adds)) sums[statistic] = (sums[statistic] ?? 0) + value;
    }
    const found = Object.entries(statistics.rules.get("d.k")!).filter(([, value]) => value !== 0);
    assert.deepEqual(Object.fromEntries(found), sums);
  });

  test("a limit above 2^32 is exact, and the answer shows the greatest uint32", () => {
    const { ask, embedded } = setUp({
      yaml: "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 10_000_000_000 } }] }",
      options: { headers },
    });
    const response = ask([descriptor("k", hitsOf(5_000_000_000))]);
    assert.deepEqual(
      response.responseHeadersToAdd.map(({ value }) => value),
      ['"d.k";q=4294967295;w=86400', '"d.k";r=4294967295;t=43200'],
    );
    const status = response.statuses[0]!;
    assert.deepEqual(
      [status.code, status.currentLimit?.requestsPerUnit, status.limitRemaining],
      [OK, 4_294_967_295, 4_294_967_295],
    );
    assert.equal(countOf(embedded, "k"), 5_000_000_000);
    assert.equal(ask([descriptor("k", hitsOf(5_000_000_001))]).statuses[0]!.code, OVER_LIMIT);
  });

  test("the answer shows the greatest uint32 under every algorithm", () => {
    for (const algorithm of ["fixed_window", "fixed_window, count: accepted", "sliding_window"])
      for (const [limit, left] of [
        [4_294_967_295, 4_294_967_294],
        [4_294_967_296, 4_294_967_295],
        [2 ** 53 - 1, 4_294_967_295],
      ] as const) {
        const { ask } = setUp({
          yaml: `{ domain: d, descriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: ${limit}, algorithm: ${algorithm} } }] }`,
        });
        const { currentLimit, limitRemaining } = ask([descriptor("k")]).statuses[0]!;
        assert.deepEqual([currentLimit!.requestsPerUnit, limitRemaining], [4_294_967_295, left], algorithm);
      }
  });

  test("a limit of 0 refuses every hit under every algorithm", () => {
    for (const [, countsAll, yaml] of limits) {
      const { ask } = setUp({
        yaml: `{ domain: d, descriptors: [{ key: k, rate_limit: { requests_per_unit: 0, ${yaml} } }] }`,
      });
      assert.equal(ask([descriptor("k")]).overallCode, OVER_LIMIT, yaml);
      const isRefusedLook = !countsAll || yaml.includes("strict");
      assert.equal(
        ask([descriptor("k", hitsOf(0))]).overallCode === OVER_LIMIT,
        isRefusedLook || countsAll,
        yaml,
      );
    }
  });

  test("a calendar day has its real length in the reset and in the headers", () => {
    const { ask } = setUp({
      yaml: "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9, calendar: { time_zone: Europe/Berlin } } }] }",
      options: { headers },
    });
    // The day has 23 hours: it began at 23:00 UTC the day before, and ends at 22:00.
    const response = ask([descriptor("k")], Date.UTC(2026, 2, 29, 12));
    assert.equal(response.statuses[0]!.durationUntilReset, 10 * 3600);
    assert.equal(response.responseHeadersToAdd[0]!.value, `"d.k";q=9;w=${23 * 3600}`);
    const later = ask([descriptor("k", hitsOf(0))], Date.UTC(2026, 2, 29, 22));
    assert.equal(later.statuses[0]!.limitRemaining, 9, "the next day");
  });

  test("an answer shows how many units a window has", () => {
    const { ask } = setUp({
      yaml: `{ domain: d, descriptors: [
        { key: one, rate_limit: { unit: minute, unit_multiplier: 1, requests_per_unit: 9 } },
        { key: wide, rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 9 } },
        { key: sliding, rate_limit: { unit: hour, unit_multiplier: 36, requests_per_unit: 9, algorithm: sliding_window } },
        { key: list, rate_limits: [{ unit: minute, requests_per_unit: 9 }, { unit: day, unit_multiplier: 2, requests_per_unit: 5 }] }] }`,
    });
    const { statuses } = ask(["one", "wide", "sliding", "list"].map((key) => descriptor(key)));
    assert.deepEqual(
      statuses.map(({ currentLimit }) => currentLimit?.unitMultiplier),
      [undefined, 15, 36, 2],
    );
  });

  test("a request's own limit of several units", () => {
    const { ask } = setUp({
      yaml: "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: minute, requests_per_unit: 100 } }] }",
    });
    const limit = { requestsPerUnit: 2, unit: Unit.MINUTE, unitMultiplier: 15 };
    const at = (minute: number) =>
      ask([descriptor("k", { limit })], Date.UTC(2026, 10, 25, 12, minute)).statuses[0]!;
    const { code, currentLimit, limitRemaining, durationUntilReset } = at(1);
    assert.deepEqual(
      { code, ...currentLimit, limitRemaining, durationUntilReset },
      { code: 1, name: "", ...limit, limitRemaining: 1, durationUntilReset: 14 * 60 },
    );
    assert.deepEqual(
      [at(2), at(14), at(15)].map((status) => status.code),
      [OK, OVER_LIMIT, OK],
    );
    assert.equal(ask([descriptor("k")]).statuses[0]!.limitRemaining, 99, "a counter of its own");
  });

  test("a window of several units is aligned to the epoch", () => {
    const { ask } = setUp({
      yaml: "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 9 } }] }",
    });
    const at = (minute: number, second: number) =>
      ask([descriptor("k")], Date.UTC(2026, 10, 25, 12, minute, second)).statuses[0]!;
    assert.deepEqual(
      [at(0, 0), at(14, 59), at(15, 0)].map(({ limitRemaining, durationUntilReset }) => [
        limitRemaining,
        durationUntilReset,
      ]),
      [
        [8, 900],
        [7, 1],
        [8, 900],
      ],
    );
  });
});

describe("cache keys", () => {
  const keyOf = (yaml: string, keyFormat: DecisionOptions["keyFormat"], value = "v") => {
    const { rules } = setUp({ yaml: `{ domain: d, descriptors: [{ key: k, ${yaml} }] }` });
    const entries = [{ key: "k", value }];
    return stemsOf(keyFormat, "d", entries, rules.match("d", entries)!);
  };

  test("the compatible format applies to the windows that the Go service has", () => {
    const compatible = createKeyFormat({ format: "compatible", prefix: "", backend: "kvstore" });
    const rows: readonly (readonly [string, string])[] = [
      ["rate_limit: { unit: month, requests_per_unit: 1, calendar: {} }", "d_k_v_"],
      ["rate_limit: { unit: day, requests_per_unit: 1, strict: true }", "d_k_v_"],
      ["rate_limit: { unit: day, requests_per_unit: 1, count: accepted }", "d|k=v|day:"],
      [
        "rate_limit: { unit: month, requests_per_unit: 1, calendar: {}, count: accepted }",
        "d|k=v|calendar:month:UTC:",
      ],
      ["rate_limit: { unit: day, requests_per_unit: 5_000_000_000 }", "d_k_v_"],
      ["rate_limit: { unit: day, requests_per_unit: 1, calendar: {} }", "d|k=v|calendar:day:UTC:"],
      [
        "rate_limit: { unit: month, requests_per_unit: 1, calendar: { time_zone: Europe/Berlin } }",
        "d|k=v|calendar:month:Europe/Berlin:",
      ],
      ["rate_limit: { unit: minute, unit_multiplier: 2, requests_per_unit: 1 }", "d|k=v|fixed:120:"],
      ["rate_limits: [{ unit: minute, requests_per_unit: 1 }]", "{d|k=v|}minute:"],
    ];
    for (const [yaml, stem] of rows) assert.deepEqual(keyOf(yaml, compatible), [stem], yaml);
  });

  test("a prefix is a part of the hash tag of a list", () => {
    const keyFormat = createKeyFormat({ format: "tollgate", prefix: "p:", backend: "kvstore" });
    const list =
      "rate_limits: [{ unit: second, requests_per_unit: 1 }, { unit: day, requests_per_unit: 9, algorithm: sliding_window }]";
    assert.deepEqual(keyOf(list, keyFormat), ["{p:d|k=v|}second:", "{p:d|k=v|}sliding:86400"]);
  });

  test("long keys are hashed, and all keys of a list keep one hash tag", () => {
    const keyFormat = createKeyFormat({ format: "tollgate", prefix: "p:", backend: "objcache" });
    const [single] = keyOf(
      "rate_limit: { unit: day, requests_per_unit: 1, calendar: {} }",
      keyFormat,
      "x".repeat(300),
    );
    assert.match(single!, /^p:#[0-9a-f]{32}:calendar:day:UTC:$/);
    const list =
      "rate_limits: [{ unit: second, requests_per_unit: 1 }, { unit: day, requests_per_unit: 9, calendar: { time_zone: America/Argentina/Buenos_Aires } }]";
    for (let length = 150; length < 260; length++) {
      const stems = keyOf(list, keyFormat, "x".repeat(length));
      const tags = new Set(stems.map((stem) => /^\{(.*)\}/.exec(stem)![1]));
      assert.equal(tags.size, 1, `${length}`);
      assert.ok(stems.every((stem) => stem.length + 10 <= 250));
    }
  });

  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["rate_limit: { unit: minute, requests_per_unit: 1, count: accepted }", ["d|k=v|minute:"]],
    ["rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 1 }", ["d|k=v|fixed:900:"]],
    ["rate_limit: { unit: minute, requests_per_unit: 1, algorithm: sliding_window }", ["d|k=v|sliding:60"]],
    ["rate_limit: { unit: hour, requests_per_unit: 1, algorithm: token_bucket }", ["d|k=v|bucket:3600"]],
    ["rate_limit: { unit: week, requests_per_unit: 1, calendar: {} }", ["d|k=v|calendar:week:UTC:monday:"]],
    [
      "rate_limit: { unit: day, requests_per_unit: 1, calendar: { time_zone: europe/berlin } }",
      ["d|k=v|calendar:day:Europe/Berlin:"],
    ],
    [
      "rate_limit: { unit: week, requests_per_unit: 1, calendar: { week_starts: sunday } }",
      ["d|k=v|calendar:week:UTC:sunday:"],
    ],
    [
      "rate_limits: [{ unit: second, requests_per_unit: 1 }, { unit: hour, requests_per_unit: 1, algorithm: token_bucket }]",
      ["{d|k=v|}second:", "{d|k=v|}bucket:3600"],
    ],
  ];
  for (const [yaml, stems] of rows)
    test(yaml, () => {
      const { rules } = setUp({ yaml: `{ domain: d, descriptors: [{ key: k, ${yaml} }] }` });
      const match = rules.match("d", [{ key: "k", value: "v" }])!;
      const found = stemsOf(plainOptions.keyFormat, "d", [{ key: "k", value: "v" }], match);
      assert.deepEqual(found, stems);
    });
});
