import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createStatistics } from "../../observe/registry.ts";
import type { StatisticsView } from "../../observe/series.ts";
import type { MetricKey } from "../../observe/statistics.ts";
import { MergedStatistics } from "./merged-statistics.ts";
import { ThreadStatistics } from "./thread-statistics.ts";

const unit = fc.constantFrom("a", ":", "\0", ".", "1.2.3.4.5.6.7", "€");
const text = fc
  .tuple(fc.integer({ min: 0, max: 700 }), fc.array(unit, { maxLength: 5 }))
  .map(([length, units]) => `${"x".repeat(length)}${units.join("")}`);
const hit = fc.record({
  domain: text,
  levels: fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined }),
});

function valuesOf(view: StatisticsView): Record<string, number> {
  return Object.fromEntries(
    view.counters.map((series) => [`${series.name} ${series.stats.join()}`, series.read(0)]),
  );
}

test("statistics of a thread equal those counted in the main thread", () => {
  fc.assert(
    fc.property(fc.array(hit, { maxLength: 20 }), (hits) => {
      const direct = createStatistics();
      const merged = createStatistics();
      const thread = new ThreadStatistics(100_000, () => {});
      for (const statistics of [direct, thread])
        for (const { domain, levels } of hits) {
          if (levels === undefined) statistics.domainNotFound(domain).value++;
          else statistics.rule({ domain, levels }, true).totalHits++;
        }
      new MergedStatistics(merged).add(1, thread.take());
      assert.deepEqual(valuesOf(merged), valuesOf(direct));
    }),
  );
});

test("a thread bounds the length and the bytes of names, and loses no hits", () => {
  const thread = new ThreadStatistics(100, () => {});
  for (let index = 0; index < 200; index++) {
    const long = `${index}`.padEnd(100_000, "x");
    const key: MetricKey = { domain: "d", levels: [long] };
    thread.rule(key, true).totalHits++;
    thread.domainNotFound(long).value++;
  }
  const { rules, notFound } = thread.take();
  const names = [...rules.map(({ key }) => key.levels[0]!), ...notFound.map(([domain]) => domain)];
  const length = names.reduce((sum, name) => sum + name.length, 0);
  assert.ok(length <= 100 * 256 + 20, `${length} characters`);
  const counted = [
    ...rules.map(({ increases }) => increases[0]!),
    ...notFound.map(([, increase]) => increase),
  ];
  assert.equal(
    counted.reduce((sum, increase) => sum + increase, 0),
    400,
  );
});
