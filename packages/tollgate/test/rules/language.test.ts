import assert from "node:assert/strict";
import { test } from "node:test";
import { Unit } from "../../src/protocol/messages.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { booleanSpellings } from "../../src/rules/yaml-scalar.ts";
import { entriesOf, faultsOf, load, rulesOf } from "./helpers.ts";

/** Returns the only rule of a configuration with one descriptor, given as the content of a flow mapping. */
function only(descriptor: string): Rule {
  const [rule] = rulesOf(`domain: d\ndescriptors:\n  - { ${descriptor} }`).rules();
  assert.ok(rule);
  return rule;
}

const limit = "rate_limit: { unit: minute, requests_per_unit: 5 }";

test("a rule has every field of its descriptor and its limit", () => {
  const rule = only(
    `key: k, value: "v*", shadow_mode: true, quota_mode: true, detailed_metric: true, value_to_metric: true,
     share_threshold: true, metadata: { team: edge },
     rate_limit: { unit: hour, requests_per_unit: 7, name: n, replaces: [{ name: a }, { name: b }] }`,
  );
  assert.deepEqual(rule, {
    domain: "d",
    path: ["k_v*"],
    requestsPerUnit: 7,
    unit: Unit.HOUR,
    unlimited: false,
    shadowMode: true,
    quotaMode: true,
    name: "n",
    replaces: ["a", "b"],
    metadata: { team: "edge" },
    detailedMetric: true,
    valueToMetric: true,
    shareThreshold: true,
    location: { file: "rules.yaml", line: 3, column: 5 },
  });
});

test("absent fields have the contract's defaults", () => {
  const { shadowMode, quotaMode, detailedMetric, valueToMetric, shareThreshold, ...rule } = only(
    `key: k, ${limit}`,
  );
  for (const flag of [shadowMode, quotaMode, detailedMetric, valueToMetric, shareThreshold])
    assert.equal(flag, false);
  assert.deepEqual([rule.name, rule.replaces, rule.metadata, rule.unlimited], ["", [], undefined, false]);
});

for (const unit of ["second", "minute", "hour", "day", "week", "month", "year"]) {
  for (const spelling of [unit, unit.toUpperCase(), unit.charAt(0).toUpperCase() + unit.slice(1)]) {
    test(`the unit ${spelling}`, () => {
      const rule = only(`key: k, rate_limit: { unit: ${spelling}, requests_per_unit: 1 }`);
      assert.equal(rule.unit, Unit[unit.toUpperCase() as keyof typeof Unit]);
    });
  }
}

const numbers: readonly (readonly [string, number])[] = [
  ["0", 0],
  ["1", 1],
  ["+7", 7],
  ["1_000", 1000],
  ["4294967295", 4_294_967_295],
  ["0x10", 16],
  ["0o17", 15],
  ["0b101", 5],
];
for (const [text, expected] of numbers) {
  test(`requests_per_unit: ${text} is ${expected}`, () => {
    const rule = only(`key: k, rate_limit: { unit: day, requests_per_unit: ${text} }`);
    assert.equal(rule.requestsPerUnit, expected);
  });
}

test("unlimited needs neither unit nor number", () => {
  const rule = only("key: k, rate_limit: { unlimited: true }");
  assert.deepEqual([rule.unlimited, rule.unit, rule.requestsPerUnit], [true, Unit.UNKNOWN, 0]);
  const both = only("key: k, rate_limit: { unlimited: no, unit: day, requests_per_unit: 3 }");
  assert.deepEqual([both.unlimited, both.unit, both.requestsPerUnit], [false, Unit.DAY, 3]);
});

test("fields of type boolean accept YAML 1.1 booleans", () => {
  assert.ok(booleanSpellings.includes("Yes") && booleanSpellings.includes("OFF"));
  for (const spelling of booleanSpellings) {
    const expected = /^(?:y|yes|true|on)$/i.test(spelling);
    assert.equal(only(`key: k, shadow_mode: ${spelling}, ${limit}`).shadowMode, expected, spelling);
  }
});

/** A scalar as written | its text */
const scalars: readonly (readonly [string, string])[] = [
  ["1.1", "1.1"],
  ["1.10", "1.10"],
  ["010", "010"],
  ["0x1F", "0x1F"],
  ["1_000", "1_000"],
  ["1e3", "1e3"],
  ["9223372036854775808", "9223372036854775808"],
  ["true", "true"],
  ["Yes", "Yes"],
  ["2020-01-01", "2020-01-01"],
  ["1:30", "1:30"],
  ["50.0.0.5", "50.0.0.5"],
  [".inf", ".inf"],
  ['"null"', "null"],
  ["'~'", "~"],
  ['"a\\tb\\u00e9"', "a\tbé"],
  ["'it''s'", "it's"],
  ["!!str 5", "5"],
  ["!!str null", "null"],
  ["a b", "a b"],
  ["/path?x=1", "/path?x=1"],
];
for (const [written, text] of scalars) {
  test(`the value ${written} is the text "${text}"`, () => {
    const asValue = rulesOf(`domain: d\ndescriptors:\n  - key: k\n    value: ${written}\n    ${limit}`);
    assert.deepEqual([...asValue.rules()][0]?.path, [`k_${text}`]);
    assert.ok(asValue.match("d", [{ key: "k", value: text }]));
    const asKey = rulesOf(`domain: d\ndescriptors:\n  - key: ${written}\n    ${limit}`);
    assert.ok(asKey.match("d", [{ key: text, value: "x" }]));
  });
}

for (const none of ["~", "null", "Null", "NULL", ""]) {
  test(`the value "${none}" counts as absent: the rule matches every value`, () => {
    const rules = rulesOf(`domain: d\ndescriptors:\n  - key: k\n    value: ${none}\n    ${limit}`);
    assert.deepEqual([...rules.rules()][0]?.path, ["k"]);
  });
}

test("a null counts as an absent field", () => {
  const rule = only(
    "key: k, shadow_mode: ~, metadata: null, rate_limit: { unit: day, requests_per_unit: 1, name: ~, replaces: ~ }",
  );
  assert.deepEqual([rule.shadowMode, rule.metadata, rule.name, rule.replaces], [false, undefined, "", []]);
});

test("anchors, aliases and merge keys load; own fields win, then the first of a list", () => {
  const rules = rulesOf(`
domain: d
descriptors:
  - key: a
    rate_limit: &slow { unit: hour, requests_per_unit: 1 }
  - key: b
    rate_limit: *slow
  - key: c
    rate_limit:
      <<: *slow
      unit: day
  - &base
    key: e
    shadow_mode: true
    rate_limit: *slow
  - <<: *base
    key: f
  - <<: [{ key: g, quota_mode: true }, *base]
`);
  const found = Array.from(rules.rules(), (rule) => [
    rule.path[0],
    rule.unit,
    rule.shadowMode,
    rule.quotaMode,
  ]);
  assert.deepEqual(found, [
    ["a", Unit.HOUR, false, false],
    ["b", Unit.HOUR, false, false],
    ["c", Unit.DAY, false, false],
    ["e", Unit.HOUR, true, false],
    ["f", Unit.HOUR, true, false],
    ["g", Unit.HOUR, true, true],
  ]);
});

test("metadata is plain JSON, deeply frozen", () => {
  const { metadata } = only(
    `key: k, ${limit}, metadata: { s: text, q: "5", i: 5, f: 1.5, h: 0x10, t: true, y: yes, n: ~,
     list: [1, { deep: [a] }], 7: seven, true: "yes", __proto__: { polluted: true } }`,
  );
  assert.deepEqual(
    JSON.parse(JSON.stringify(metadata)),
    JSON.parse(`{ "s": "text", "q": "5", "i": 5, "f": 1.5, "h": 16, "t": true, "y": "yes", "n": null,
      "list": [1, { "deep": ["a"] }], "7": "seven", "true": "yes", "__proto__": { "polluted": true } }`),
  );
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(frozen));
  assert.ok(frozen(metadata));
});

test("placeholders and whitelisted descriptors are not rules", () => {
  const rules = rulesOf(`
domain: d
descriptors:
  - key: placeholder
    descriptors:
      - { key: leaf, ${limit} }
  - key: whitelisted
`);
  assert.deepEqual(
    Array.from(rules.rules(), ({ path }) => path.join(".")),
    ["placeholder.leaf"],
  );
});

test("rules are grouped by domain, each in the order of its configuration", () => {
  const rules = rulesOf(`
domain: d
descriptors:
  - key: z
    ${limit}
    descriptors:
      - { key: b, ${limit} }
      - { key: a, ${limit} }
  - { key: y, ${limit} }
`);
  assert.deepEqual(
    Array.from(rules.rules(), ({ path }) => path.join(".")),
    ["z", "z.b", "z.a", "y"],
  );
});

test("a domain without rules loads without diagnostics", () => {
  const { ruleSet, diagnostics } = load("domain: d\ndescriptors: []\n");
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(ruleSet?.domains, ["d"]);
});

test("a file may start with a byte order mark, directives and ---, and end with ...", () => {
  const text = `\uFEFF%YAML 1.2\n---\ndomain: d\ndescriptors:\n  - { key: k, ${limit} }\n...\n`;
  assert.deepEqual(faultsOf(text), []);
});

test("a configuration may be JSON", () => {
  const text = JSON.stringify({
    domain: "d",
    descriptors: [{ key: "k", rate_limit: { unit: "day", requests_per_unit: 1 } }],
  });
  assert.ok(rulesOf(text).match("d", entriesOf("k=v")));
});

test("wildcards of equal rank are only reported if a value can match both", () => {
  const faults = (...values: string[]) =>
    faultsOf(
      `domain: d\ndescriptors:\n${values.map((value) => `  - { key: k, value: "${value}" }\n`).join("")}`,
    );
  assert.deepEqual(faults("/v1/*", "/v2/*"), []);
  assert.deepEqual(faults("*.com", "*.org"), []);
  assert.deepEqual(faults("a*x", "a*y"), []);
  assert.deepEqual(faults("a*", "ab*", "*b"), []);
  assert.deepEqual(faults("*a*", "*b*"), ["4:5 warning equal-wildcards"]);
  assert.deepEqual(faults("*ab", "*a*b"), ["4:5 warning equal-wildcards"]);
  assert.deepEqual(faults("*a*b", "*ab"), ["4:5 warning never-matches"]);
  assert.deepEqual(faults("a*", "a***"), ["4:5 warning never-matches"]);
  assert.deepEqual(faults("*", "**"), ["4:5 warning never-matches"]);
  const crowd = Array.from({ length: 100 }, (_, index) => `*${index + 100}*`);
  assert.equal(faults(...crowd).length, 11, "many warnings are summarised");
});
