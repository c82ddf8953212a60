import assert from "node:assert/strict";
import { test } from "node:test";
import { createStatistics } from "../observe/registry.ts";
import type { RuleSeries } from "../observe/series.ts";
import { loadRules } from "../rules/load-rules.ts";
import { Activity } from "./activity.ts";
import { matchesPieces, RuleIndex } from "./rule-index.ts";
import { rulePage } from "./rule-page.ts";

const YAML = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 20, name: per_user }
  - key: user
    value: bot
    shadow_mode: true
    rate_limit: { unit: hour, requests_per_unit: 5 }
  - key: tenant
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 7 }
    descriptors:
      - key: path
        rate_limit: { unit: second, requests_per_unit: 1 }
  - key: listed
    rate_limits:
      - { unit: second, requests_per_unit: 3 }
      - { unit: hour, requests_per_unit: 30, name: long }
  - key: free
    rate_limit: { unlimited: true }
`;

async function setUp(text = YAML) {
  const { ruleSet, diagnostics } = loadRules([{ name: "shop.yaml", text }], {
    mergeDomains: false,
    calendarMonths: false,
    fixedWindowsOnly: undefined,
  });
  assert.ok(ruleSet, JSON.stringify(diagnostics));
  const registry = createStatistics();
  const index = await RuleIndex.create(ruleSet, registry);
  const activity = new Activity();
  await activity.read(registry.counters, 0);
  const series = (...levels: string[]) => registry.rule({ domain: "shop", levels }, true) as RuleSeries;
  return { registry, index, activity, series };
}

const query = { search: "", order: "refused", offset: 0, limit: 25, rule: "" } as const;

for (const [levels, line] of [
  [["user"], 4],
  [["user_bot"], 6],
  [["tenant_a"], 10],
  [["tenant_"], 10],
  [["tenant_a", "path"], 14],
  [["tenant_a.path_b", "path"], 14],
  [["listed"], 16],
  [["listed", "limit", "second"], 16],
  [["listed", "limit", "long"], 16],
  [["tenants"], undefined],
  [["user_other"], undefined],
] as const)
  test(`the rule of ${levels.join(".")}`, async () => {
    const { index, series } = await setUp();
    const number = index.numberOf(series(...levels));
    const location = number === undefined ? undefined : index.rule(number).location;
    assert.equal(location?.line, line);
  });

for (const [text, pieces, expected] of [
  ["a", ["a"], true],
  ["ab", ["a"], false],
  ["a_1", ["a", ""], true],
  ["a", ["a", ""], true],
  ["ab", ["a", ""], false],
  ["a_1.b_2", ["a", ".b", ""], true],
  ["a_1.c", ["a", ".b", ""], false],
  ["a_1.b", ["a", ".b"], true],
  ["a.b.b", ["a", ".b"], true],
  ["a.b", ["a", ".b", ".b"], false],
] as const)
  test(`${text} ${expected ? "matches" : "does not match"} ${pieces.join("*")}`, () => {
    assert.equal(matchesPieces(text, pieces), expected);
  });

test("a page has every configured rule, those with refusals first", async () => {
  const { registry, index, activity, series } = await setUp();
  series("user").totalHits = 100;
  series("user_bot").totalHits = 50;
  series("user_bot").overLimit = 40;
  series("user_bot").shadowMode = 40;
  series("tenant_x").totalHits = 30;
  series("tenant_x").overLimit = 20;
  series("gone").totalHits = 1;
  await activity.read(registry.counters, 1000);
  const page = await rulePage({ activity, index, left: () => undefined }, query);
  assert.deepEqual(
    page.rows.map(({ key, limit, origin }) => [key, limit, origin]),
    [
      ["shop.tenant_x", "7 per day", "configured"],
      ["shop.user_bot", "5 per hour", "configured"],
      ["shop.user", "20 per minute", "configured"],
      ["shop.gone", "", "request"],
      ["shop.free", "unlimited", "configured"],
      ["shop.listed", "3 per second, 30 per hour", "configured"],
      ["shop.listed.limit.long", "30 per hour", "configured"],
      ["shop.listed.limit.second", "3 per second", "configured"],
      ["shop.tenant.path", "1 per second", "configured"],
    ],
  );
  assert.deepEqual([page.configured, page.active, page.matching], [6, 4, 9]);
  const [first, bot] = page.rows;
  assert.equal(first!.place!.text, "shop.yaml:10:5");
  assert.equal(first!.totals!.over_limit, 20);
  assert.deepEqual(bot!.modes, ["shadow"]);
  assert.equal(bot!.rates.refused, 0);
  assert.ok(bot!.rates.shadowed > 0);
});

test("a search, an order and a page", async () => {
  const { index, activity } = await setUp();
  const sources = { activity, index, left: () => undefined };
  const keys = async (part: Partial<typeof query> | object) =>
    (await rulePage(sources, { ...query, ...part })).rows.map(({ key }) => key);
  assert.deepEqual(await keys({ search: "USER" }), ["shop.user", "shop.user_bot"]);
  assert.deepEqual(await keys({ order: "name", limit: 2, offset: 1 }), [
    "shop.listed",
    "shop.listed.limit.long",
  ]);
  assert.deepEqual(await keys({ search: "nothing" }), []);
});

test("a frame of 10,000 rules is small", async () => {
  const rules = Array.from(
    { length: 10_000 },
    (_, index) => `  - { key: k${index}, rate_limit: { unit: day, requests_per_unit: ${index} } }`,
  );
  const { registry, index, activity, series } = await setUp(
    `domain: shop\ndescriptors:\n${rules.join("\n")}\n`,
  );
  for (let number = 0; number < 10_000; number++) series(`k${number}`).totalHits = number;
  await activity.read(registry.counters, 1000);
  const page = await rulePage({ activity, index, left: () => undefined }, { ...query, limit: 200 });
  assert.equal(page.matching, 10_000);
  assert.equal(page.rows.length, 200);
  assert.ok(JSON.stringify(page).length < 300_000, `${JSON.stringify(page).length}`);
});
