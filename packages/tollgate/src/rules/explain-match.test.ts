import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, rulesOf } from "../../test/rules/helpers.ts";
import { type Explanation, explainMatch, type Outcome } from "./explain-match.ts";
import { renderExplanation } from "./explain-text.ts";

const rules = rulesOf(`
domain: d
descriptors:
  - key: path
    rate_limit: { unit: minute, requests_per_unit: 1 }
    descriptors:
      - { key: user, rate_limit: { unlimited: true } }
  - key: path
    value: "/api/*"
    value_to_metric: true
    rate_limit: { unit: minute, requests_per_unit: 2, name: api }
    descriptors:
      - key: method
        value: GET
  - key: path
    value: "/api/*/export"
    rate_limit: { unit: hour, requests_per_unit: 3 }
  - key: path
    value: /health
  - key: group
    descriptors:
      - key: user
        rate_limit: { unit: day, requests_per_unit: 4 }
`);

function explain(request: string): Explanation {
  return explainMatch(rules, "d", entriesOf(request));
}

/** request | outcome | the line of the rule | metric key */
const outcomes: readonly (readonly [string, Outcome, number | undefined, string | undefined])[] = [
  ["path=/x", "limited", 4, "d.path"],
  ["path=/api/7", "limited", 8, "d.path_/api/7"],
  ["path=/api/7/export", "limited", 15, "d.path_/api/*/export"],
  ["path=/x,user=u", "unlimited", 7, "d.path.user"],
  ["path=/health", "whitelisted", undefined, undefined],
  ["group=g", "placeholder", undefined, undefined],
  ["group=g,user=u", "limited", 22, "d.group.user"],
  ["path=/api/7,user=u", "no-rule", undefined, undefined],
  ["path=/health,user=u", "no-rule", undefined, undefined],
  ["pth=/x", "no-rule", undefined, undefined],
  ["", "no-rule", undefined, undefined],
];

for (const [request, outcome, line, metricKey] of outcomes) {
  test(`${request || "no entries"}: ${outcome}${line === undefined ? "" : ` by line ${line}`}`, () => {
    const explanation = explain(request);
    assert.equal(explanation.outcome, outcome);
    assert.equal(explanation.metricKey, metricKey);
    assert.equal(
      explanation.rule?.location,
      line && `rules.yaml:${line}:${line === 7 || line === 22 ? 9 : 5}`,
    );
    assert.deepEqual(
      JSON.parse(JSON.stringify(explanation)),
      explanation,
      "an explanation must be plain JSON",
    );
  });
}

test("an explanation lists for each level the attempts, their locations and their reasons", () => {
  assert.deepEqual(explain("path=/api/7,method=POST").levels, [
    {
      entry: { key: "path", value: "/api/7" },
      tried: [
        {
          kind: "exact",
          what: "path=/api/7",
          result: "not matched",
          why: 'the only explicit value here is "/health"',
        },
        {
          kind: "wildcard",
          what: "path=/api/*/export",
          result: "not matched",
          why: 'the value does not end with "/export"',
          location: "rules.yaml:15:5",
        },
        {
          kind: "wildcard",
          what: "path=/api/*",
          result: "matched",
          why: "the most specific wildcard that matches",
          location: "rules.yaml:8:5",
        },
        {
          kind: "key-only",
          what: "path",
          result: "not tried",
          why: "a more specific rule matched",
          location: "rules.yaml:4:5",
        },
      ],
      chosen: "rules.yaml:8:5",
    },
    {
      entry: { key: "method", value: "POST" },
      tried: [
        {
          kind: "exact",
          what: "method=POST",
          result: "not matched",
          why: 'the only explicit value here is "GET"',
        },
        {
          kind: "key-only",
          what: "method",
          result: "not matched",
          why: "there is no rule for this key without a `value`",
        },
      ],
    },
  ]);
});

test("a misspelt key or domain gets a suggestion", () => {
  assert.match(explain("pth=/x").levels[0]?.tried[0]?.why ?? "", /did you mean `path`\?/);
  const summary = explainMatch(rulesOf("domain: messaging\ndescriptors: []"), "mesaging", []).summary;
  assert.equal(summary, 'no limit: the domain "mesaging" is not configured: did you mean "messaging"?');
});

test("a note mentions a limit that only backtracking would have found", () => {
  assert.deepEqual(explain("path=/api/7,user=u").notes, [
    "the rule in rules.yaml:7:9 would match, but the search chose a more specific rule above it and never goes back",
  ]);
  assert.deepEqual(explain("path=/x,other=o").notes, []);
});

test("a request's own limit does not need a rule", () => {
  const explanation = explainMatch(rules, "d", entriesOf("a=1,b="), { requestsPerUnit: 9, unit: 3 });
  assert.equal(explanation.outcome, "override");
  assert.equal(explanation.metricKey, "d.a_1.b");
  assert.equal(explanation.rule?.requests_per_unit, 9);
  assert.equal(explanation.rule?.location, undefined);
});

test("an explanation as text", () => {
  assert.equal(
    renderExplanation(explain("path=/api/7")),
    `domain     d
descriptor path=/api/7
  level 1: path=/api/7
    no   path=/api/7  the only explicit value here is "/health"
    no   path=/api/*/export  the value does not end with "/export"  (rules.yaml:15:5)
    yes  path=/api/*  the most specific wildcard that matches  (rules.yaml:8:5)
    -    path  a more specific rule matched  (rules.yaml:4:5)
result     limited by the rule in rules.yaml:8:5
rule       d.path_/api/*: unit=MINUTE requests_per_unit=2, shadow_mode: false, quota_mode: false, name: api, value_to_metric: true
metric key d.path_/api/7`,
  );
});

test("text of a request cannot break a line or control a terminal", () => {
  const text = renderExplanation(explain("path=/x\n\u001b[31mresult"));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\u0000-\u001f]/);
  assert.match(text, /descriptor path=\/x\\u000a\\u001b\[31mresult\n/);
});

test("only some of very many wildcards are listed", () => {
  const lines = Array.from({ length: 500 }, (_, index) => `  - { key: k, value: "v${index}x*" }`);
  const many = rulesOf(`domain: d\ndescriptors:\n${lines.join("\n")}`);
  const tried = explainMatch(many, "d", entriesOf("k=v499x")).levels[0]?.tried ?? [];
  assert.ok(tried.length < 30, `${tried.length} attempts`);
  assert.equal(tried.find(({ result }) => result === "matched")?.what, "k=v499x*");
  assert.ok(tried.some(({ why }) => /more wildcards do not match/.test(why)));
});
