import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatDiagnostic } from "../rules/diagnostic.ts";
import { loadRules } from "../rules/load-rules.ts";
import { readTestFile } from "./read-tests.ts";
import { differenceOf, headingOf } from "./report.ts";
import { runTests } from "./run-tests.ts";

function run(rules: string, steps: string, more = ""): ReturnType<typeof runTests> {
  const text = `domain: d\n${more}\ntests:\n  - name: t\n    steps:\n${steps.replace(/^/gm, "      ")}`;
  const { file, diagnostics } = readTestFile({ name: "d.test.yaml", text });
  assert.ok(file, diagnostics.map(formatDiagnostic).join("\n"));
  const loaded = loadRules([{ name: "d.yaml", text: `domain: d\ndescriptors:\n${rules}` }], file.settings);
  assert.ok(loaded.ruleSet, loaded.diagnostics.map(formatDiagnostic).join("\n"));
  return runTests(file, loaded.ruleSet);
}

/** A rule for the key `k` with these settings of its limit. */
const limited = (settings: string) => `  - key: k\n    rate_limit: { ${settings} }\n`;

/** what it shows | rules | steps | more lines at the top level */
const passing: readonly (readonly [string, string, string, string?])[] = [
  [
    "a fixed window",
    limited("unit: minute, requests_per_unit: 2"),
    `- { request: k=a, repeat: 2, expect: { code: OK, remaining: 0, reset: 60, rule: d.k } }
- { request: k=a, expect: { code: OVER_LIMIT, remaining: 0 } }
- { request: k=b, expect: { code: OK, remaining: 1 } }
- { advance: 59s }
- { request: k=a, expect: { code: OVER_LIMIT, reset: 1s } }
- { advance: 1 }
- { request: k=a, expect: { code: OK, remaining: 1, reset: 1m } }`,
  ],
  [
    "a window of several units",
    limited("unit: minute, unit_multiplier: 15, requests_per_unit: 1"),
    `- { request: k=a, expect: { code: OK, reset: 15m } }
- { advance: 14m59s }
- { request: k=a, expect: OVER_LIMIT }
- { advance: 1s }
- { request: k=a, expect: OK }`,
  ],
  [
    "a sliding window",
    limited("unit: minute, requests_per_unit: 10, algorithm: sliding_window"),
    `- { request: k=a, repeat: 10, expect: { code: OK, remaining: 0 } }
- { advance: 90s }
- { request: k=a, repeat: 5, expect: OK }
- { request: k=a, expect: OVER_LIMIT }`,
  ],
  [
    "a token bucket",
    limited("unit: minute, requests_per_unit: 60, burst: 3, algorithm: token_bucket"),
    `- { request: k=a, hits: 3, expect: { code: OK, remaining: 0, reset: 3 } }
- { request: k=a, expect: { code: OVER_LIMIT, reset: 1 } }
- { advance: 2s }
- { request: k=a, hits: 2, expect: { code: OK, remaining: 0 } }`,
  ],
  [
    "a day of a calendar that is 23 hours long",
    limited("unit: day, requests_per_unit: 1, calendar: { time_zone: Europe/Berlin }"),
    `- { advance_to: "2026-03-28T23:00:00Z" }
- { request: k=a, expect: { code: OK, reset: 23h } }
- { advance: 22h59m59s }
- { request: k=a, expect: { code: OVER_LIMIT, reset: 1s } }
- { advance: 1s }
- { request: k=a, expect: { code: OK, reset: 24h } }`,
  ],
  [
    "months of a calendar by a setting",
    limited("unit: month, requests_per_unit: 1"),
    `- { request: k=a, expect: { code: OK, reset: 28d } }`,
    'start: "2026-02-01T00:00:00Z"\nsettings: { USE_CALENDAR_MONTH_RATE_LIMIT: true }',
  ],
  [
    "several limits: the tightest is shown, and a refused request counts nowhere",
    `  - key: k
    rate_limits:
      - { unit: second, requests_per_unit: 2 }
      - { unit: hour, requests_per_unit: 3 }\n`,
    `- { request: k=a, repeat: 2, expect: { code: OK, remaining: 0, reset: 1s } }
- { request: k=a, expect: { code: OVER_LIMIT, reset: 1s } }
- { advance: 1s }
- { request: k=a, expect: { code: OK, remaining: 0, reset: 59m59s } }
- { request: k=a, expect: { code: OVER_LIMIT } }`,
  ],
  [
    "only accepted hits count",
    limited("unit: minute, requests_per_unit: 5, count: accepted"),
    `- { request: k=a, hits: 6, expect: OVER_LIMIT }
- { request: k=a, hits: 5, expect: { code: OK, remaining: 0 } }`,
  ],
  [
    "a look and a strict look",
    `${limited("unit: minute, requests_per_unit: 1")}  - key: s\n    rate_limit: { unit: minute, requests_per_unit: 1, strict: true }\n`,
    `- { request: k=a, hits: 0, repeat: 5, expect: { code: OK, remaining: 1 } }
- { request: k=a, expect: OK }
- { request: k=a, hits: 0, expect: OK }
- { request: s=a, expect: OK }
- { request: s=a, hits: 0, expect: OVER_LIMIT }`,
  ],
  [
    "refunds",
    limited("unit: minute, requests_per_unit: 2"),
    `- { request: k=a, repeat: 2, expect: OK }
- { request: { entries: k=a, refund: true, hits: 2 }, expect: { code: OK, remaining: 2 } }
- { request: { entries: { k: a } }, expect: { code: OK, remaining: 1 } }`,
  ],
  [
    "a limit of the request's own",
    limited("unit: minute, requests_per_unit: 100"),
    `- request: { entries: k=a, limit: { requests_per_unit: 1, unit: HOUR } }
  expect: { code: OK, remaining: 0, reset: 1h, rule: d.k_a }
- { request: { entries: k=a, limit: { requests_per_unit: 1, unit: hour } }, expect: OVER_LIMIT }
- { request: k=a, expect: { code: OK, remaining: 99, rule: d.k } }`,
  ],
  [
    "a limit of the request's own with a window of several units",
    limited("unit: minute, requests_per_unit: 100"),
    `- request: { entries: k=a, limit: { requests_per_unit: 1, unit: minute, unit_multiplier: 15 } }
  expect: { code: OK, remaining: 0, reset: 15m, rule: d.k_a }`,
  ],
  [
    "no rule, an unlimited rule, a rule in shadow mode",
    `  - { key: u, rate_limit: { unlimited: true } }
  - { key: s, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 0 } }\n`,
    `- { request: x=1, expect: { code: OK, rule: none, remaining: 0, reset: 0 } }
- { request: u=1, expect: { code: OK, rule: d.u, remaining: unlimited } }
- { request: s=1, expect: { code: OK, rule: d.s, remaining: 0 } }
- { request: u=1, domain: other, expect: { code: OK, rule: none } }`,
  ],
  [
    "a replaced rule, and expectations of each descriptor",
    `  - { key: a, rate_limit: { unit: day, requests_per_unit: 1, name: first } }
  - { key: b, rate_limit: { unit: day, requests_per_unit: 3, replaces: [{ name: first }] } }\n`,
    `- request: [a=1, b=1]
  repeat: 3
  expect: { code: OK, descriptors: [{ rule: none }, { rule: d.b, remaining: 0 }] }
- { request: [a=1, b=1], expect: { code: OVER_LIMIT, descriptors: [OK, OVER_LIMIT] } }
- { request: a=1, expect: { code: OK, rule: d.a, remaining: 0 } }`,
  ],
  [
    "SHADOW_MODE: the call passes, its descriptor is over limit",
    limited("unit: day, requests_per_unit: 0"),
    "- { request: k=a, expect: { code: OK, descriptors: [OVER_LIMIT] } }",
    "settings: { SHADOW_MODE: true }",
  ],
  [
    "QUOTA_MODE: one of two limits is not exceeded",
    `${limited("unit: day, requests_per_unit: 0")}  - { key: l, rate_limit: { unit: day, requests_per_unit: 9 } }\n`,
    "- { request: [k=a, l=a], expect: { code: OK, descriptors: [OVER_LIMIT, OK] } }",
    "settings: { QUOTA_MODE: yes }",
  ],
  [
    "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: the other limit does not count",
    `${limited("unit: day, requests_per_unit: 0")}  - { key: l, rate_limit: { unit: day, requests_per_unit: 9 } }\n`,
    `- { request: [k=a, l=a], repeat: 4, expect: OVER_LIMIT }
- { request: l=a, expect: { remaining: 8 } }`,
    "settings: { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: true }",
  ],
];

describe("tests that pass", () => {
  for (const [title, rules, steps, more] of passing)
    test(title, () => {
      const [result] = run(rules, steps, more);
      const { failure } = result!;
      const shown = failure && [
        headingOf(failure),
        ...differenceOf(failure).map(({ sign, text }) => sign + text),
      ];
      assert.equal(shown, undefined);
    });
});

/** what it shows | rules | steps | the heading and the difference of the failure */
const failing: readonly (readonly [string, string, string, readonly string[]])[] = [
  [
    "the first failure ends a test, and names the repetition and the time",
    limited("unit: minute, requests_per_unit: 2"),
    `- { advance: 1500ms }
- { request: k=a, repeat: 5, expect: OK }
- { request: k=a, expect: { remaining: 77 } }`,
    [
      "step 2, request 3 of 5, at 2026-01-01T00:00:01.500Z: d k=a",
      "- code       OK",
      "+ code       OVER_LIMIT",
      "  rule       d.k  (d.yaml:3:5)",
      "  remaining  0",
      "  reset      59",
    ],
  ],
  [
    "with a repetition, the numbers are those of the last request",
    limited("unit: minute, requests_per_unit: 5"),
    "- { request: k=a, repeat: 2, expect: { remaining: 4, reset: 59s } }",
    [
      "step 1, request 2 of 2, at 2026-01-01T00:00:00Z: d k=a",
      "  code       OK",
      "  rule       d.k  (d.yaml:3:5)",
      "- remaining  4",
      "+ remaining  3",
      "- reset      59",
      "+ reset      60",
    ],
  ],
  [
    "an expected rule that does not exist",
    limited("unit: minute, requests_per_unit: 5"),
    "- { request: k=a, expect: { rule: d.kk } }",
    [
      "step 1, at 2026-01-01T00:00:00Z: d k=a",
      "  code       OK",
      "- rule       d.kk",
      "+ rule       d.k  (d.yaml:3:5; the configuration has no rule d.kk; did you mean d.k?)",
      "  remaining  4",
      "  reset      60",
    ],
  ],
  [
    "one of two descriptors",
    limited("unit: minute, requests_per_unit: 5"),
    "- { request: [k=a, { entries: { x: a }, hits: 2 }], expect: { descriptors: [OK, OVER_LIMIT] } }",
    [
      "step 1, at 2026-01-01T00:00:00Z: d k=a | x=a hits: 2",
      "  code       OK",
      "  descriptor 1",
      "    code       OK",
      "    rule       d.k  (d.yaml:3:5)",
      "    remaining  4",
      "    reset      60",
      "  descriptor 2",
      "-   code       OVER_LIMIT",
      "+   code       OK",
      "    rule       none",
      "    remaining  0",
      "    reset      0",
    ],
  ],
];

describe("tests that fail", () => {
  for (const [title, rules, steps, lines] of failing)
    test(title, () => {
      const [result] = run(rules, steps);
      const { failure } = result!;
      assert.ok(failure);
      const shown = differenceOf(failure).map(({ sign, text }) => `${sign} ${text}`);
      assert.deepEqual([headingOf(failure), ...shown], lines);
    });
});

test("each test starts with empty counters, at its own time", () => {
  const { file } = readTestFile({
    name: "d.test.yaml",
    text: `domain: d
start: 2026-05-05T00:00:30Z
tests:
  - { name: a, steps: [{ request: k=a, expect: { remaining: 0, reset: 30 } }] }
  - { name: b, start: "2026-05-05T01:00:59+01:00", steps: [{ request: k=a, expect: { remaining: 0, reset: 1 } }] }
`,
  });
  const { ruleSet } = loadRules(
    [{ name: "d.yaml", text: `domain: d\ndescriptors:\n${limited("unit: minute, requests_per_unit: 1")}` }],
    file!.settings,
  );
  const results = runTests(file!, ruleSet!);
  assert.deepEqual(
    results.map(({ name, failure }) => [name, failure]),
    [
      ["a", undefined],
      ["b", undefined],
    ],
  );
});
