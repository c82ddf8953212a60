import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { Unit } from "../protocol/messages.ts";
import type { RuleSet } from "../rules/rule.ts";
import { type Call, record, rulesOf } from "./replay.fixture.ts";
import { Replay } from "./replay.ts";
import { OWN_LIMIT } from "./rule-changes.ts";

const START = Date.parse("2026-11-22T13:00:00Z");

function replayed(lines: readonly string[], ruleSet: RuleSet): Replay {
  const replay = new Replay(ruleSet, { storeBytes: 4 * 1024 ** 2 });
  replay.startLog("log");
  for (const line of lines) replay.line(line, line.length);
  replay.end();
  return replay;
}

const changesOf = ({ sums }: Replay) => [sums.newlyRefused, sums.newlyPass];

const rules = (limit: string, more = "") =>
  rulesOf(`domain: d
descriptors:
  - { key: k, rate_limit: { requests_per_unit: ${limit} } }
  - { key: s, rate_limit: { requests_per_unit: 3, unit: minute, algorithm: sliding_window } }
  - { key: b, rate_limit: { requests_per_unit: 6, unit: minute, burst: 2, algorithm: token_bucket } }
  - { key: l, rate_limits: [{ requests_per_unit: 2, unit: second }, { requests_per_unit: 5, unit: hour }] }
  - { key: a, rate_limit: { requests_per_unit: 2, unit: minute, count: accepted, name: small } }
  - { key: c, rate_limit: { requests_per_unit: 9, unit: day, calendar: { time_zone: Asia/Tokyo } } }
  - { key: r, rate_limit: { requests_per_unit: 1, unit: hour, replaces: [{ name: small }] } }
${more}`);

const calls = (gap: number): fc.Arbitrary<Call[]> =>
  fc
    .array(
      fc.record({
        after: fc.nat(gap),
        descriptors: fc.array(
          fc.constantFrom("k=1", "k=2", "s=1", "b=1", "l=1", "a=1", "c=1", "r=1", "x=1"),
          { minLength: 1, maxLength: 3 },
        ),
        hits: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: -2, max: 3 })),
        limit: fc.option(
          fc.record({
            requestsPerUnit: fc.nat(3),
            unit: fc.constantFrom(Unit.MINUTE, Unit.HOUR),
            unitMultiplier: fc.constantFrom(undefined, 3),
          }),
          { nil: undefined, freq: 9 },
        ),
      }),
      { maxLength: 120 },
    )
    .map((all) => {
      let time = START;
      return all.map(({ after, limit, ...call }) => {
        time += after;
        return { time, ...call, ...(limit !== undefined && { limit }) };
      });
    });

describe("replay", () => {
  test("a replay with the rules of the log changes no decision, under every algorithm", () => {
    const ruleSet = rules("4, unit: minute");
    fc.assert(
      fc.property(calls(20_000), (traffic) => {
        const replay = replayed(
          record(ruleSet, traffic).map(({ line }) => line),
          ruleSet,
        );
        assert.deepEqual(changesOf(replay), [0, 0]);
        assert.equal(replay.decisions, traffic.flatMap(({ descriptors }) => descriptors).length);
        assert.equal(replay.damaged, 0);
      }),
    );
  });

  test("a replay with other rules decides as these rules would have decided, also if threads mixed the lines", () => {
    const old = rules("4, unit: minute");
    const candidate = rules("2, unit: second");
    fc.assert(
      fc.property(calls(5000), fc.integer({ min: 1, max: 50 }), (traffic, group) => {
        // Calls of the same time may change places: their order is not in the log.
        const distinct = traffic.filter(({ time }, index) => traffic[index - 1]?.time !== time);
        const before = record(old, distinct);
        const now = record(candidate, distinct);
        let [newlyRefused, newlyPass] = [0, 0];
        for (const [index, { refused }] of now.entries())
          for (const [at, isRefused] of refused.entries()) {
            const wasRefused = before[index]!.refused[at]!;
            if (isRefused && !wasRefused) newlyRefused++;
            if (wasRefused && !isRefused) newlyPass++;
          }
        const lines = before.map(({ line }) => line);
        const mixed = Array.from({ length: Math.ceil(lines.length / group) }, (_, index) =>
          lines.slice(index * group, (index + 1) * group).reverse(),
        ).flat();
        assert.deepEqual(changesOf(replayed(mixed, candidate)), [newlyRefused, newlyPass]);
      }),
    );
  });

  test("scales sums by the rate of each line", () => {
    const lines = record(
      rules("1, unit: day"),
      [0, 1, 2].map((at) => ({ time: START + at, descriptors: ["k=1"] })),
      0.01,
    );
    const { sums, decisions, lowestRate } = replayed(
      lines.map(({ line }) => line),
      rules("2, unit: day"),
    );
    assert.deepEqual(
      { sums, decisions, lowestRate },
      {
        sums: { decisions: 300, refusedBefore: 200, refusedNow: 100, newlyRefused: 0, newlyPass: 100 },
        decisions: 3,
        lowestRate: 0.01,
      },
    );
  });

  test("leaves out extra refusals and descriptors that are not sampled", () => {
    const [first, second] = record(rules("0, unit: day"), [
      { time: START, descriptors: ["k=1"] },
      { time: START, descriptors: ["k=1", "k=2"] },
    ]).map(({ line }) => JSON.parse(line));
    first.reason = "refusal";
    first.rate = 0;
    first.descriptors[0].sampled = false;
    second.descriptors[0].sampled = false;
    const replay = replayed([JSON.stringify(first), JSON.stringify(second)], rules("5, unit: day"));
    assert.deepEqual([replay.leftOut, replay.decisions], [1, 1]);
    assert.deepEqual(changesOf(replay), [0, 1]);
    assert.deepEqual(
      replay.keys.top(9).map(({ key }) => key),
      ["d k=2"],
    );
  });

  test("a counter starts with the hits that it had before the log", () => {
    const ruleSet = rules("5, unit: day");
    const day = record(
      ruleSet,
      Array.from({ length: 9 }, (_, index) => ({ time: START + index * 3_600_000, descriptors: ["k=1"] })),
    ).map(({ line }) => line);
    for (let from = 0; from < day.length; from++) {
      const replay = replayed(day.slice(from), ruleSet);
      assert.deepEqual(changesOf(replay), [0, 0], `from line ${from}`);
      assert.equal(replay.seeded, from === 0 ? 0 : 1);
    }
  });

  test("a counter whose window had another length in the log starts without hits", () => {
    const [, second] = record(rules("5, unit: day"), [
      { time: START, descriptors: ["k=1"] },
      { time: START + 1, descriptors: ["k=1"] },
    ]).map(({ line }) => line);
    assert.equal(replayed([second!], rules("5, unit: day")).seeded, 1);
    const wide = second!.replace('"unit":"day"', '"unit":"day","unit_multiplier":2');
    assert.notEqual(wide, second);
    assert.equal(replayed([wide], rules("5, unit: day")).seeded, 0);
  });

  test("without a count, a line of the over-limit cache means a used-up limit, and a line of the failure policy means nothing", () => {
    const ruleSet = rules("2, unit: day");
    const [, , , refused] = record(
      ruleSet,
      [0, 1, 2, 3].map((at) => ({ time: START + at, descriptors: ["k=1"] })),
    ).map(({ line }) => line.replace(/"count":\d+,/, ""));
    assert.deepEqual(changesOf(replayed([refused!], ruleSet)), [0, 0]);
    const denied = refused!.replace(/"reset":\d+/, '"reset":0');
    assert.notEqual(denied, refused);
    assert.deepEqual(changesOf(replayed([denied], ruleSet)), [0, 1]);
  });

  test("a limit of the request's own is decided again with that limit", () => {
    const limit = { requestsPerUnit: 1, unit: Unit.HOUR };
    const traffic = [0, 1].map((at) => ({ time: START + at, descriptors: ["k=1"], limit }));
    const { rules: changes } = replayed(
      record(rules("9, unit: day"), traffic).map(({ line }) => line),
      rules("0, unit: day"),
    );
    assert.deepEqual(
      changes
        .list()
        .map(({ before, now, refusedBefore, refusedNow }) => [before, now, refusedBefore, refusedNow]),
      [[OWN_LIMIT, OWN_LIMIT, 1, 1]],
    );
  });

  test("has a row for each pair of a recorded rule and a rule of the candidate", () => {
    const traffic = ["k=1", "k=7", "x=1"].map((text, at) => ({ time: START + at, descriptors: [text] }));
    const lines = record(rules("9, unit: day"), traffic).map(({ line }) => line);
    const more =
      "  - { key: k, value: '7', rate_limit: { requests_per_unit: 0, unit: day } }\n  - key: x\n    rate_limit: { unlimited: true }\n";
    const { rules: changes } = replayed(lines, rules("9, unit: day", more));
    assert.deepEqual(
      changes
        .list()
        .map(({ before, now, newlyRefused, rule }) => [before, now, newlyRefused, rule?.location?.line]),
      [
        ["d.k", "d.k_7", 1, 10],
        ["d.k", "d.k", 0, 3],
        [undefined, "d.x", 0, 11],
      ],
    );
  });

  test("the clock never runs back: a late line is decided at the latest time so far", () => {
    const ruleSet = rules("9, unit: minute");
    const many = Array.from({ length: 10_000 }, (_, at) => ({
      time: START + 60_000 + at,
      descriptors: ["k=1"],
    }));
    const lines = record(ruleSet, [{ time: START, descriptors: ["k=2"] }, ...many]).map(({ line }) => line);
    const replay = replayed([...lines.slice(1), lines[0]!], ruleSet);
    assert.equal(replay.late, 1);
    assert.equal(replay.decisions, lines.length);
    assert.deepEqual([replay.first, replay.last], [START + 60_000, START + 69_999]);
  });
});

const good = record(rules("9, unit: minute"), [{ time: START, descriptors: ["k=1"] }])[0]!.line;
/** a change of a good line | the reason */
const damaged: readonly (readonly [(line: string) => string, string])[] = [
  [(line) => line.slice(0, 50), "the line is not JSON"],
  [() => "5", "the line is not an object"],
  [() => "[]", "the line is not an object"],
  [(line) => line.replace('"time":"2026', '"time":"x'), "`time` is not a time"],
  [(line) => line.replace('"rate":1', '"rate":0'), "a descriptor is sampled at a `rate` of 0"],
  [(line) => line.replace('"rate":1', '"rate":1.5'), "`rate` is not a number from 0 to 1"],
  [(line) => line.replace('"sample"', '"x"'), "`reason` is neither sample nor refusal"],
  [(line) => line.replace('"domain":"d"', '"domain":""'), "`domain` is not a text"],
  [
    (line) => line.replace(/"descriptors":.*/, '"descriptors":[]}'),
    "`descriptors` is not a list of descriptors",
  ],
  [(line) => line.replace(/"descriptors":.*/, '"descriptors":[5]}'), "a descriptor is not an object"],
  [(line) => line.replace('[["k","1"]]', '{"k":"1"}'), "`entries` is not a list"],
  [(line) => line.replace('[["k","1"]]', '[["k"]]'), "an entry is not a pair of texts"],
  [(line) => line.replace('"hits":1', '"hits":1.5'), "`hits` is not a whole number"],
  [
    (line) => line.replace(/"sampled":true,"code":"OK"/, '"sampled":true,"code":"MAYBE"'),
    "the `code` of a descriptor is neither OK nor OVER_LIMIT",
  ],
  [
    (line) => line.replace('"requests_per_unit":9', '"requests_per_unit":"9"'),
    "`limit` has no number and unit",
  ],
  [
    (line) => line.replace('"minute"', '"minute","unit_multiplier":1.5'),
    "`unit_multiplier` of `limit` is not a whole number",
  ],
  [
    (line) => line.replace(/"file":"[^"]*",/, "").replace('"minute"', '"minute","unit_multiplier":0'),
    "`unit_multiplier` of `limit` is out of range",
  ],
  [
    (line) => line.replace(/"file":"[^"]*",/, "").replace('"minute"', '"fortnight"'),
    "`limit` has an unknown unit",
  ],
];
describe("damaged lines are counted and named", () => {
  for (const [change, reason] of damaged)
    test(reason, () => {
      const line = change(good);
      assert.notEqual(line, good);
      const replay = replayed([good, "", line, good], rules("9, unit: minute"));
      assert.deepEqual(replay.damagedLines, [{ log: "log", line: 3, reason }]);
      assert.deepEqual([replay.damaged, replay.decisions], [1, 2]);
    });

  test("any text is a damaged line or a decision", () => {
    const ruleSet = rules("9, unit: minute");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.nat(good.length).map((at) => good.slice(0, at) + good.slice(at + 1)),
        ),
        (line) => {
          const replay = replayed([line], ruleSet);
          assert.ok(replay.damaged + replay.leftOut + replay.decisions === 1 || line.trim() === "");
        },
      ),
    );
  });

  test("at most ten are named", () => {
    const replay = replayed(
      Array.from({ length: 50 }, () => "{"),
      rules("9, unit: minute"),
    );
    assert.deepEqual([replay.damaged, replay.damagedLines.length], [50, 10]);
  });
});
