/** Explanations of limits with more than a number and a unit: the answer that they predict, and the window that they show. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rulesOf } from "../../test/rules/helpers.ts";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { codeNames } from "../protocol/units.ts";
import { descriptor, MapStatistics, plainOptions, request } from "./decide.fixture.ts";
import { Decider } from "./decide.ts";
import { explainDecision } from "./explain-decision.ts";

const NOW = Date.UTC(2026, 2, 29, 12);

const limits = {
  plain: "rate_limit: { unit: day, requests_per_unit: 4 }",
  strict: "rate_limit: { unit: day, requests_per_unit: 4, strict: true }",
  wide: "rate_limit: { unit: hour, unit_multiplier: 7, requests_per_unit: 4 }",
  accepted: "rate_limit: { unit: day, requests_per_unit: 4, count: accepted }",
  calendar: "rate_limit: { unit: week, requests_per_unit: 4, calendar: { time_zone: Asia/Tokyo } }",
  sliding: "rate_limit: { unit: minute, requests_per_unit: 4, algorithm: sliding_window }",
  bucket: "rate_limit: { unit: minute, requests_per_unit: 4, algorithm: token_bucket, burst: 6 }",
  none: "rate_limit: { unit: day, requests_per_unit: 0, algorithm: token_bucket, burst: 6 }",
  list: "rate_limits: [{ unit: minute, requests_per_unit: 3, algorithm: token_bucket }, { unit: day, requests_per_unit: 9 }]",
};
const rules = rulesOf(`
domain: d
descriptors:
${Object.entries(limits)
  .flatMap(([name, limit]) => [
    `  - { key: ${name}, ${limit} }`,
    `  - { key: ${name}, value: shadow, shadow_mode: true, ${limit} }`,
    `  - { key: ${name}, value: quota, quota_mode: true, ${limit} }`,
  ])
  .join("\n")}
`);

const asked = fc.record({
  key: fc.constantFrom(...Object.keys(limits)),
  value: fc.oneof({ weight: 3, arbitrary: fc.constant("a") }, fc.constantFrom("shadow", "quota")),
  hits: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.integer({ min: -2, max: 9 })),
});
/** A look does not show which of a sliding window's hits are in its current window, and only those can be refunded. */
const isPredicted = ({ key, hits }: { key: string; hits: number }) => key !== "sliding" || hits >= 0;
const calls = fc.array(
  fc.record({
    advance: fc.oneof(fc.nat(3000), fc.nat(80_000)),
    asked: fc.array(asked.filter(isPredicted), { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 15 },
);

for (const stopIncrementing of [false, true])
  test(`an explanation predicts the answer of every algorithm and counts nothing, stop incrementing ${stopIncrementing}`, async () => {
    const options = { ...plainOptions, stopIncrementing };
    await fc.assert(
      fc.asyncProperty(calls, async (sequence) => {
        const store = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
        const decider = new Decider(options, new MapStatistics(), store);
        let now = NOW;
        for (const { advance, asked } of sequence) {
          now += advance;
          const of = request(
            ...asked.map(({ key, value, hits }) => ({
              ...descriptor(key, { hitsAddend: Math.abs(hits), isNegativeHits: hits < 0 }),
              entries: [{ key, value }],
            })),
          );
          const explained = await explainDecision(of, rules, store, options, now);
          const { overallCode, statuses } = await decider.decide(decider.prepare(of, rules), now, 0);
          assert.deepEqual(
            [explained.overallCode, ...explained.descriptors.map(({ answer }) => answer)],
            [
              codeNames[overallCode],
              ...statuses.map(({ code, limitRemaining }) => ({ code: codeNames[code], limitRemaining })),
            ],
          );
        }
      }),
      { numRuns: 100 },
    );
  });

test("an explanation shows the real length of a day with a time change, and the time that is left of it", async () => {
  const berlin = rulesOf(
    "{ domain: d, descriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4, calendar: { time_zone: Europe/Berlin } } }] }",
  );
  const store = EmbeddedStore.create({ sizeInBytes: 65_536, reclaimInterval: 0 });
  const { descriptors } = await explainDecision(request(descriptor("k")), berlin, store, plainOptions, NOW);
  const start = Date.UTC(2026, 2, 28, 23) / 1000;
  const window = { unit: "DAY", start, end: start + 23 * 3600, secondsUntilReset: 10 * 3600 };
  assert.deepEqual(descriptors[0]!.window, window);
  assert.deepEqual(descriptors[0]!.limits, [
    {
      algorithm: "fixed_window",
      count: "all",
      limit: 4,
      seconds: 23 * 3600,
      cacheKey: `d|k=v|calendar:day:Europe/Berlin:${start}`,
      window,
      used: 0,
      remaining: 4,
    },
  ]);
});
