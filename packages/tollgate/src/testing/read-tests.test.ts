import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDiagnostic } from "../rules/diagnostic.ts";
import { readTestFile } from "./read-tests.ts";

const step = (text: string) => `domain: d\ntests:\n  - name: t\n    steps:\n      - ${text}\n`;

/** a test file | its diagnostics */
const faults: readonly (readonly [string, readonly string[]])[] = [
  ["", ["1:1: a test file must be a mapping of names to values, not nothing"]],
  ["domain: d\n", ["1:1: `tests` is missing at the top level"]],
  ["tests: []\n", ["1:1: `tests` has no test"]],
  ["tests: 5\n", ['1:8: `tests` must be a list of tests, not "5"', "1:1: `tests` has no test"]],
  [
    "tests:\n\t- a\n",
    [
      "2:1: YAML syntax: tab characters must not be used in indentation: the line begins with a tab; indent with spaces",
    ],
  ],
  [
    "test: []\ntests: [{ name: a, steps: [] }]\n",
    ["1:1: unknown key `test` at the top level: did you mean `tests`?"],
  ],
  [
    "settings: { SHADOWMODE: true, NEAR: 1 }\ntests: [{ name: a, steps: [] }]\n",
    [
      "1:13: unknown key `SHADOWMODE` in `settings`: did you mean `SHADOW_MODE`?",
      "1:31: unknown key `NEAR` in `settings`; known here: SHADOW_MODE, QUOTA_MODE, STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT, MERGE_DOMAIN_CONFIG, USE_CALENDAR_MONTH_RATE_LIMIT",
    ],
  ],
  [
    "start: yesterday\ntests: [{ name: a, steps: [] }]\n",
    ['1:8: `start` must be a date and a time with a zone, such as 2026-01-31T12:00:00Z, not "yesterday"'],
  ],
  ["tests: [{ steps: [] }]\n", ["1:9: `name` is missing in a test"]],
  ["tests: [{ name: '', steps: [] }]\n", ["1:11: `name` must not be empty"]],
  ["tests: [{ name: a, steps: [] }, { name: a, steps: [] }]\n", ['1:33: two tests have the name "a"']],
  [step("{}"), ["5:9: a step has exactly one of `request`, `advance` and `advance_to`"]],
  [
    step("{ request: k=v, advance: 5s }"),
    ["5:9: a step has exactly one of `request`, `advance` and `advance_to`"],
  ],
  [
    step("{ advance: soon }"),
    ['5:20: `advance` must be a duration such as 30s, 5m or 1h30m, at most ten years, not "soon"'],
  ],
  [
    step("{ advance: 11y }"),
    ['5:20: `advance` must be a duration such as 30s, 5m or 1h30m, at most ten years, not "11y"'],
  ],
  [
    step("{ advance: 5000d }"),
    ['5:20: `advance` must be a duration such as 30s, 5m or 1h30m, at most ten years, not "5000d"'],
  ],
  [
    step('{ advance_to: "2025-01-01" }'),
    ["5:9: `advance_to` is before the time that the test has reached: time only advances"],
  ],
  [step("{ advance: 5s, expect: OK }"), ["5:24: `expect` belongs in a step with a request"]],
  [step("{ request: kv }"), ['5:20: "kv" is not a key=value pair; commas separate several pairs']],
  [step("{ request: [] }"), ["5:11: `request` has no descriptor"]],
  [step("{ request: [[k=v]] }"), ["5:21: a descriptor must be a mapping of names to values, not a list"]],
  [
    step("{ request: { k: v } }"),
    [
      "5:22: unknown key `k` in a descriptor; known here: entries, hits, refund, limit",
      "5:20: `entries` is missing in a descriptor",
    ],
  ],
  [step("{ request: { entries: {} } }"), ["5:31: a descriptor needs at least one entry"]],
  [
    step("{ request: { entries: [k] } }"),
    ["5:31: entries must be `key=value,key=value` or a mapping of keys to values, not a list"],
  ],
  [step("{ request: { entries: { k: [] } } }"), ["5:36: the value of an entry must be text, not a list"]],
  [step("{ request: k=v, hits: -1 }"), ["5:31: `hits` must not be negative: -1"]],
  [step("{ request: k=v, repeat: 0 }"), ["5:33: `repeat` must be at least 1: 0"]],
  [
    step("{ request: { entries: k=v, limit: { unit: day } } }"),
    ["5:43: `requests_per_unit` is missing in `limit`"],
  ],
  [
    step("{ request: { entries: k=v, limit: { unit: fortnight, requests_per_unit: 1 } } }"),
    ['5:51: `unit` must be one of second, minute, hour, day, month, year, week, not "fortnight"'],
  ],
  [
    step("{ request: k=v, expect: OVERLIMIT }"),
    ['5:33: the code must be OK or OVER_LIMIT, not "OVERLIMIT": did you mean OVER_LIMIT?'],
  ],
  [step("{ request: k=v, expect: { code: [] } }"), ["5:41: `code` must be OK or OVER_LIMIT, not a list"]],
  [
    step("{ request: k=v, expect: { remaining: many } }"),
    ['5:46: `remaining` must be a whole number from 0 to 9007199254740991, not "many"'],
  ],
  [
    step("{ request: [k=v, l=v], expect: { remaining: 1 } }"),
    ["5:42: the request has 2 descriptors: write `remaining` for each of them, under `descriptors`"],
  ],
  [
    step("{ request: [k=v, l=v], expect: { descriptors: [OK] } }"),
    ["5:42: `descriptors` must have one item for each descriptor of the request: 2, not 1"],
  ],
  [
    step("{ request: k=v, expect: { rule: none, descriptors: [OK] } }"),
    ["5:35: write `rule` under `descriptors` or beside `code`, not in both places"],
  ],
  [
    "tests:\n  - name: t\n    steps:\n      - request: k=v\n",
    ["4:9: the request has no domain: write `domain` here, in the test or at the top level"],
  ],
];

for (const [text, expected] of faults)
  test(`faults: ${JSON.stringify(text)}`, () => {
    const { file, diagnostics } = readTestFile({ name: "f", text });
    assert.equal(file, undefined);
    assert.deepEqual(
      diagnostics.map((one) => formatDiagnostic(one).replace(/^f:/, "")).sort(),
      [...expected].sort(),
    );
  });

test("durations and instants", () => {
  const { file, diagnostics } = readTestFile({
    name: "f",
    text: `domain: d
start: 2026-05-05
tests:
  - name: t
    steps:
      - { advance: 90 }
      - { advance: 1h30m }
      - { advance: 1.5d }
      - { advance: 20ms }
      - { advance_to: 2026-06-01T12:00:00+02:00 }
`,
  });
  assert.deepEqual(diagnostics, []);
  const [one] = file!.tests;
  assert.equal(one!.start, Date.UTC(2026, 4, 5));
  const advances = one!.steps.map((each) => (each.kind === "advance" ? (each.by ?? each.to) : undefined));
  assert.deepEqual(advances, [90_000, 5_400_000, 129_600_000, 20, Date.UTC(2026, 5, 1, 10)]);
});

test("a request has the domain of its step, its test or its file", () => {
  const { file } = readTestFile({
    name: "f",
    text: `domain: file
tests:
  - { name: a, steps: [{ request: k=v }] }
  - { name: b, domain: test, steps: [{ request: k=v }, { request: k=v, domain: step }] }
`,
  });
  const domains = file!.tests.map(({ steps }) =>
    steps.map((each) => (each.kind === "request" ? each.request.domain : "")),
  );
  assert.deepEqual(domains, [["file"], ["test", "step"]]);
});
