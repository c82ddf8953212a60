import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Entry } from "../../src/protocol/messages.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { explainMatch } from "../../src/rules/explain-match.ts";
import { loadRules } from "../../src/rules/load-rules.ts";
import type { RuleSet } from "../../src/rules/rule.ts";
import { metricKeyOf } from "./helpers.ts";

/** A rule of the language, without an index. */
interface Plain {
  readonly key: string;
  readonly value: string | undefined;
  readonly limit: number | undefined;
  readonly flag: boolean;
  readonly shared: boolean;
  readonly nested: readonly Plain[];
}

/** Matches `*` with a regular expression, unlike the product. */
function fits(pattern: string, value: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`).test(value);
}

function literals(pattern: string): number {
  return [...pattern].filter((character) => character !== "*").length;
}

function choose(level: readonly Plain[], entry: Entry): Plain | undefined {
  const same = level.filter(({ key }) => key === entry.key);
  const exact = same.find(({ value }) => value === entry.value && !value.includes("*"));
  if (exact !== undefined) return exact;
  let best: Plain | undefined;
  for (const rule of same) {
    if (rule.value === undefined || !rule.value.includes("*") || !fits(rule.value, entry.value)) continue;
    if (best === undefined || isMoreSpecific(rule.value, best.value as string)) best = rule;
  }
  return best ?? same.find(({ value }) => value === undefined);
}

function isMoreSpecific(a: string, b: string): boolean {
  const front = a.indexOf("*") - b.indexOf("*");
  return front > 0 || (front === 0 && literals(a) > literals(b));
}

/** Limit, metric key and shared values, or undefined. */
function naive(level: readonly Plain[], entries: readonly Entry[]): unknown {
  let here = level;
  let last: Plain | undefined;
  const metric = ["d"];
  const shared: (string | undefined)[] = [];
  for (const entry of entries) {
    last = choose(here, entry);
    if (last === undefined) return undefined;
    metric.push(segment(last, entry));
    shared.push(last.shared ? last.value : undefined);
    here = last.nested;
  }
  if (last?.limit === undefined) return undefined;
  const anyShared = shared.some((one) => one !== undefined);
  return { limit: last.limit, metric: metric.join("."), shared: anyShared ? shared : undefined };
}

function segment({ key, value, flag, shared }: Plain, entry: Entry): string {
  if (value !== undefined && !value.includes("*")) return `${key}_${value}`;
  if (!flag) return value === undefined ? key : `${key}_${value}`;
  if (shared) return `${key}_${(value as string).split("*")[0]}`;
  return entry.value === "" ? key : `${key}_${entry.value}`;
}

// Few letters, so that keys, values and patterns often match.
const keys = fc.constantFrom("a", "b", "a_b");
const values = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 5, size: "max" });
const patterns = fc.string({
  unit: fc.constantFrom("a", "b", "*"),
  minLength: 1,
  maxLength: 5,
  size: "max",
});

const levels = fc.letrec<{ level: Plain[]; rule: Plain }>((tie) => ({
  level: fc.uniqueArray(tie("rule"), {
    minLength: 4,
    maxLength: 12,
    size: "max",
    selector: ({ key, value }) => `${key}=${value}`,
  }),
  rule: fc
    .record({
      key: keys,
      value: fc.option(fc.oneof(values, patterns), { nil: undefined }),
      limit: fc.option(fc.nat(1000), { nil: undefined, freq: 4 }),
      flag: fc.boolean(),
      shared: fc.boolean(),
      nested: fc.oneof({ maxDepth: 2, depthIdentifier: "rules" }, fc.constant([]), tie("level")),
    })
    .map((rule) => ({
      ...rule,
      value: rule.value === "" ? undefined : rule.value,
      shared: rule.shared && (rule.value?.includes("*") ?? false),
    })),
}));

function yamlOf(level: readonly Plain[]): string {
  // JSON is valid YAML.
  return JSON.stringify({ domain: "d", descriptors: level.map(descriptorOf) });
}

function descriptorOf(rule: Plain): object {
  return {
    key: rule.key,
    value: rule.value,
    value_to_metric: rule.flag,
    share_threshold: rule.shared,
    rate_limit: rule.limit === undefined ? undefined : { unit: "day", requests_per_unit: rule.limit },
    descriptors: rule.nested.map(descriptorOf),
  };
}

function answerOf(rules: RuleSet, entries: readonly Entry[]): unknown {
  const match = rules.match("d", entries);
  if (match === undefined) return undefined;
  const { rule, sharedValues } = match;
  return { limit: rule.requestsPerUnit, metric: metricKeyOf(match), shared: sharedValues };
}

const requests = fc.array(fc.array(fc.record({ key: keys, value: values }), { maxLength: 4 }), {
  minLength: 20,
  maxLength: 40,
});

test("the indexed lookup, a naive lookup and the explanation agree", () => {
  let found = 0;
  let deep = 0;
  fc.assert(
    fc.property(levels.level, requests, (level, asked) => {
      const { ruleSet, diagnostics } = loadRules([{ name: "r.yaml", text: yamlOf(level) }], {
        mergeDomains: false,
      });
      assert.ok(ruleSet, diagnostics.map(formatDiagnostic).join("\n"));
      for (const entries of asked) {
        const expected = naive(level, entries) as { metric: string } | undefined;
        if (expected !== undefined) found++;
        if (expected !== undefined && entries.length > 1) deep++;
        assert.deepEqual(answerOf(ruleSet, entries), expected);
        assert.equal(explainMatch(ruleSet, "d", entries).metricKey, expected?.metric);
      }
    }),
    { numRuns: 200 },
  );
  // Without matches the comparison would prove nothing.
  assert.ok(
    found > 500 && deep > 100,
    `only ${found} limits were found, ${deep} of them below the top level`,
  );
});

const word = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength, maxLength, size: "max" });

/** Patterns that share the index's groups: chains of prefixes and suffixes, and the text between. */
const crowds = {
  "any text": fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 8, size: "max" }),
  "parts in the middle": fc
    .tuple(
      fc.constantFrom("", "a"),
      fc.array(word(2, 5), { minLength: 1, maxLength: 2 }),
      fc.constantFrom("", "c"),
    )
    .map(([prefix, middles, suffix]) => `${prefix}*${middles.join("*")}*${suffix}`),
  "chains of prefixes": fc.tuple(fc.nat(40), word(0, 2)).map(([count, end]) => `${"a".repeat(count)}*${end}`),
  "chains of suffixes": fc
    .tuple(word(0, 1), fc.nat(40))
    .map(([start, count]) => `${start}*${"a".repeat(count)}`),
};

const crowdValues = fc.oneof(
  word(0, 24),
  fc.tuple(word(0, 2), fc.nat(45), word(0, 2)).map(([start, count, end]) => start + "a".repeat(count) + end),
);

for (const [kind, pattern] of Object.entries(crowds)) {
  test(`many wildcards at one level, ${kind}: the indexed lookup equals a naive one`, () => {
    const texts = fc.uniqueArray(
      pattern.map((text) => (text.includes("*") ? text : `${text}*`)),
      { minLength: 20, maxLength: 120, size: "max" },
    );
    fc.assert(
      fc.property(texts, fc.array(crowdValues, { minLength: 40, maxLength: 60 }), (all, asked) => {
        const level = all.map((value, limit): Plain => {
          return { key: "k", value, limit, flag: false, shared: false, nested: [] };
        });
        const { ruleSet } = loadRules([{ name: "r.yaml", text: yamlOf(level) }], { mergeDomains: false });
        assert.ok(ruleSet);
        for (const value of asked) {
          const entries = [{ key: "k", value }];
          assert.deepEqual(answerOf(ruleSet, entries), naive(level, entries));
        }
      }),
      { numRuns: 40 },
    );
  });
}

test("a reload of the same rules gives equal matches in a new generation", () => {
  const text =
    'domain: d\ndescriptors: [{ key: k, value: "a*", rate_limit: { unit: day, requests_per_unit: 1 } }]';
  const load = () => loadRules([{ name: "r.yaml", text }], { mergeDomains: false }).ruleSet as RuleSet;
  const [first, second] = [load(), load()];
  assert.ok(second.generation > first.generation);
  const entries = [{ key: "k", value: "ab" }];
  assert.deepEqual(second.match("d", entries), first.match("d", entries));
});
