import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Entry } from "../protocol/messages.ts";
import { loadRules } from "../rules/load-rules.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import {
  type ConfigurationDiff,
  compareConfigurations,
  type Example,
  isEmpty,
  type RuleName,
} from "./diff.ts";

function rulesOf(descriptors: string, domain = "d"): IndexedRuleSet {
  const text =
    descriptors === ""
      ? `domain: ${domain}\ndescriptors: []\n`
      : `domain: ${domain}\ndescriptors:\n${descriptors}\n`;
  const { ruleSet, diagnostics } = loadRules([{ name: "d.yaml", text }], { mergeDomains: false });
  assert.ok(ruleSet, JSON.stringify(diagnostics));
  return ruleSet;
}

const textOf = ({ entries }: Example) => entries.map(({ key, value }) => `${key}=${value}`).join(",");
const keyOf = (rule: RuleName | undefined) => rule?.key ?? "none";

/** A comparison as lines. */
function shown(diff: ConfigurationDiff): readonly string[] {
  const { added, removed, changed, rematched, metricKeys, cacheKeys } = diff;
  return [
    ...added.map(
      ({ rule, limit, example }) =>
        `added ${rule.key}: ${limit}; ${example ? textOf(example) : "no example"}`,
    ),
    ...removed.map(
      ({ rule, limit, example }) =>
        `removed ${rule.key}: ${limit}; ${example ? textOf(example) : "no example"}`,
    ),
    ...changed.map(
      ({ now, direction, limitBefore, limitNow, settings }) =>
        `${direction} ${now.key}: ${limitBefore} -> ${limitNow}; ${settings.map(({ name }) => name).join(" ")}`,
    ),
    ...rematched.map(({ before, now, example }) => `${textOf(example)}: ${keyOf(before)} -> ${keyOf(now)}`),
    ...metricKeys.map(({ before, now }) => `metric ${before.join(" ")} -> ${now.join(" ")}`),
    ...cacheKeys.map(({ before, now }) => `cache ${before.join(" ")} -> ${now.join(" ")}`),
  ];
}

const limit = (settings: string, more = "") => `  - { key: k, rate_limit: { ${settings} }${more} }`;
const day = (number: number) => `rate_limit: { unit: day, requests_per_unit: ${number} }`;

/** what it shows | old rules | new rules | the comparison */
const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
  ["equal rules", limit("unit: day, requests_per_unit: 1"), limit("requests_per_unit: 1, unit: DAY"), []],
  [
    "an added and a removed limit, with an example each",
    `  - { key: a, value: v, ${day(1)} }`,
    `  - { key: b, ${day(2)} }`,
    ["added d.b: 2 per day; b=x", "removed d.a_v: 1 per day; a=v"],
  ],
  [
    "a raised limit",
    limit("unit: day, requests_per_unit: 1"),
    limit("unit: day, requests_per_unit: 2000"),
    ["raised d.k: 1 per day -> 2,000 per day; requests_per_unit"],
  ],
  [
    "a lowered limit, in shadow mode",
    limit("unit: day, requests_per_unit: 2", ", shadow_mode: true"),
    limit("unit: day, requests_per_unit: 1", ", shadow_mode: true"),
    ["lowered d.k: 2 per day (shadow mode) -> 1 per day (shadow mode); requests_per_unit"],
  ],
  [
    "another unit: a higher rate and more at once is raised, and the counters start at 0",
    limit("unit: day, requests_per_unit: 10"),
    limit("unit: hour, requests_per_unit: 10"),
    ["raised d.k: 10 per day -> 10 per hour; unit", "cache d|k=x|day: -> d|k=x|hour:"],
  ],
  [
    "the same rate with less at once is lowered",
    limit("unit: hour, requests_per_unit: 60"),
    limit("unit: minute, requests_per_unit: 1"),
    [
      "lowered d.k: 60 per hour -> 1 per minute; unit requests_per_unit",
      "cache d|k=x|hour: -> d|k=x|minute:",
    ],
  ],
  [
    "a higher rate with less at once is neither",
    limit("unit: hour, requests_per_unit: 60"),
    limit("unit: minute, requests_per_unit: 5"),
    ["other d.k: 60 per hour -> 5 per minute; unit requests_per_unit", "cache d|k=x|hour: -> d|k=x|minute:"],
  ],
  [
    "another algorithm",
    limit("unit: minute, requests_per_unit: 5"),
    limit("unit: minute, requests_per_unit: 5, algorithm: token_bucket, burst: 9"),
    [
      "raised d.k: 5 per minute -> 5 per minute, token bucket of 9; algorithm burst",
      "cache d|k=x|minute: -> d|k=x|bucket:60",
    ],
  ],
  [
    "unlimited is more than any number",
    limit("unit: day, requests_per_unit: 2"),
    limit("unlimited: true"),
    ["raised d.k: 2 per day -> unlimited; unit requests_per_unit unlimited"],
  ],
  [
    "a list with one more limit allows less",
    "  - { key: k, rate_limits: [{ unit: day, requests_per_unit: 9 }] }",
    "  - { key: k, rate_limits: [{ unit: day, requests_per_unit: 9 }, { unit: second, requests_per_unit: 1, name: s }] }",
    ["lowered d.k: 9 per day -> 9 per day and 1 per second; rate_limits"],
  ],
  [
    "a renamed limit of a list has another metric key",
    "  - { key: k, rate_limits: [{ unit: day, requests_per_unit: 9, name: a }] }",
    "  - { key: k, rate_limits: [{ unit: day, requests_per_unit: 9, name: b }] }",
    ["same d.k: 9 per day -> 9 per day; rate_limits", "metric d.k.limit.a -> d.k.limit.b"],
  ],
  [
    "shadow mode that ends is another limit in words",
    limit("unit: day, requests_per_unit: 2", ", shadow_mode: true"),
    limit("unit: day, requests_per_unit: 2"),
    ["same d.k: 2 per day (shadow mode) -> 2 per day; shadow_mode"],
  ],
  [
    "detailed metrics",
    limit("unit: day, requests_per_unit: 2"),
    limit("unit: day, requests_per_unit: 2", ", detailed_metric: true"),
    ["same d.k: 2 per day -> 2 per day; detailed_metric", "metric d.k -> d.k_x"],
  ],
  [
    "a shared wildcard",
    `  - { key: k, value: a*, ${day(1)} }`,
    `  - { key: k, value: a*, ${day(1)}, share_threshold: true }`,
    ["same d.k_a*: 1 per day -> 1 per day; share_threshold", "cache d|k=ax|day: -> d|k=a*|day:"],
  ],
  [
    "an exact value within a wildcard",
    `  - { key: k, value: a*, ${day(1)} }`,
    `  - { key: k, value: a*, ${day(1)} }\n  - { key: k, value: ab, ${day(2)} }`,
    ["added d.k_ab: 2 per day; k=ab", "k=ab: d.k_a* -> d.k_ab", "metric d.k_a* -> d.k_ab"],
  ],
  [
    "a value that is not limited any more",
    limit("unit: day, requests_per_unit: 1"),
    `${limit("unit: day, requests_per_unit: 1")}\n  - { key: k, value: friend }`,
    ["k=friend: d.k -> none"],
  ],
  [
    "a removed wildcard, below another one",
    `  - { key: k, value: "*", ${day(1)} }\n  - { key: k, value: "*b", ${day(2)} }`,
    `  - { key: k, value: "*", ${day(1)} }`,
    ["removed d.k_*b: 2 per day; k=xb", "k=xb: d.k_*b -> d.k_*", "metric d.k_*b -> d.k_*"],
  ],
  [
    "wildcards of both configurations that overlap",
    `  - { key: k, value: "ab*", ${day(1)} }`,
    `  - { key: k, value: "a*c", ${day(1)} }`,
    [
      "added d.k_a*c: 1 per day; k=axc",
      "removed d.k_ab*: 1 per day; k=abx",
      "k=abxc: d.k_ab* -> d.k_a*c",
      "metric d.k_ab* -> d.k_a*c",
    ],
  ],
  [
    "a limit below a level that another configuration does not have",
    `  - { key: k, value: v, descriptors: [{ key: l, ${day(1)} }] }\n  - { key: k, descriptors: [{ key: l, ${day(2)} }] }`,
    `  - { key: k, descriptors: [{ key: l, ${day(2)} }] }`,
    ["removed d.k_v.l: 1 per day; k=v,l=x", "k=v,l=x: d.k_v.l -> d.k.l", "metric d.k_v.l -> d.k.l"],
  ],
];

describe("a comparison of two configurations", () => {
  for (const [title, before, now, lines] of cases)
    test(title, () => {
      const diff = compareConfigurations(rulesOf(before), rulesOf(now));
      assert.deepEqual(shown(diff), lines);
      assert.equal(isEmpty(diff), lines.length === 0);
      assert.equal(diff.isComplete, true);
    });

  test("a domain that only one configuration has", () => {
    const diff = compareConfigurations(rulesOf(limit("unit: day, requests_per_unit: 1")), rulesOf("", "e"));
    assert.deepEqual(shown(diff), ["removed d.k: 1 per day; k=x"]);
  });
});

const value = fc.constantFrom(undefined, "a", "ab", "b", "*", "a*", "*b", "a*b", "*a*", "ab*");
const node = (below: fc.Arbitrary<object[]>) =>
  fc.record({
    key: fc.constantFrom("k", "l"),
    value,
    rate_limit: fc.option(fc.record({ unit: fc.constantFrom("day", "hour"), requests_per_unit: fc.nat(3) }), {
      nil: undefined,
    }),
    descriptors: below,
  });
const unique = <Node extends { readonly key: string; readonly value: string | undefined }>(
  nodes: fc.Arbitrary<Node>,
) => fc.uniqueArray(nodes, { maxLength: 5, selector: (one) => `${one.key}=${one.value}` });
const tree = unique(node(unique(node(fc.constant([])))));
const entry = fc.record({
  key: fc.constantFrom("k", "l"),
  value: fc.string({ unit: fc.constantFrom("a", "b", "x"), maxLength: 4 }),
});
const request = fc.array(entry, { minLength: 1, maxLength: 2 });

function load(descriptors: readonly object[]): IndexedRuleSet {
  const { ruleSet } = loadRules([{ name: "d.yaml", text: JSON.stringify({ domain: "d", descriptors }) }], {
    mergeDomains: false,
  });
  assert.ok(ruleSet);
  return ruleSet;
}

const matched = (rules: IndexedRuleSet, entries: readonly Entry[]) => {
  const rule = rules.match("d", entries)?.rule;
  return rule && [rule.domain, ...rule.path].join(".");
};

test("each example is true, and no request matches another rule that the comparison does not list", () => {
  fc.assert(
    fc.property(tree, tree, fc.array(request, { maxLength: 30 }), (before, now, requests) => {
      const [old, own] = [load(before), load(now)];
      const diff = compareConfigurations(old, own);
      assert.ok(diff.isComplete);
      const listed = new Set<string>();
      for (const { before: from, now: to, example } of diff.rematched) {
        assert.equal(matched(old, example.entries), from?.key);
        assert.equal(matched(own, example.entries), to?.key);
        listed.add(`${keyOf(from)} ${keyOf(to)}`);
      }
      for (const { rule } of diff.added) listed.add(`none ${rule.key}`);
      for (const { rule } of diff.removed) listed.add(`${rule.key} none`);
      for (const { rule, example } of diff.added)
        if (example) assert.equal(matched(own, example.entries), rule.key);
      for (const { rule, example } of diff.removed)
        if (example) assert.equal(matched(old, example.entries), rule.key);
      for (const entries of requests) {
        const pair = [matched(old, entries), matched(own, entries)];
        if (pair[0] !== pair[1])
          assert.ok(listed.has(pair.map((one) => one ?? "none").join(" ")), JSON.stringify([entries, pair]));
      }
    }),
  );
});

const tenants = (value: (index: number) => string) =>
  Array.from({ length: 10_000 }, (_, index) => ({
    key: "tenant",
    value: value(index),
    rate_limit: { unit: "day", requests_per_unit: 5 },
  }));
for (const [kind, value] of [
  ["values", (index: number) => (index % 10 === 0 ? `t${index}*` : `t${index}`)],
  ["wildcards", (index: number) => `t${index}-*`],
] as const)
  test(`ten thousand rules with ${kind} are compared, and with themselves are equal`, () => {
    const many = tenants(value);
    assert.ok(isEmpty(compareConfigurations(load(many), load(many))));
    const diff = compareConfigurations(load(many), load(many.slice(1)));
    const removed = value(0);
    const example = removed.replace("*", "x");
    assert.deepEqual(shown(diff), [`removed d.tenant_${removed}: 5 per day; tenant=${example}`]);
    assert.ok(diff.isComplete);
  });

test("two wildcards of equal rank change places", () => {
  const rule = (text: string) => `  - { key: k, value: "${text}", ${day(1)} }`;
  const diff = compareConfigurations(
    rulesOf(`${rule("*x*")}\n${rule("*y*")}`),
    rulesOf(`${rule("*y*")}\n${rule("*x*")}`),
  );
  assert.deepEqual(shown(diff), ["k=xyx: d.k_*x* -> d.k_*y*", "metric d.k_*x* -> d.k_*y*"]);
});
