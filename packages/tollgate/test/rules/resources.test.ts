import assert from "node:assert/strict";
import { test } from "node:test";
import { Unit } from "../../src/protocol/messages.ts";
import { weekdays } from "../../src/rules/calendar-window.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { loadResources, loadRules } from "../../src/rules/load-rules.ts";
import type { RateLimitConfigDescriptor, RateLimitConfigResource } from "../../src/rules/resource.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { entriesOf, rulesOf } from "./helpers.ts";

function resource(name: string, ...descriptors: RateLimitConfigDescriptor[]): RateLimitConfigResource {
  return { name, domain: "d", descriptors };
}

function faults(...descriptors: RateLimitConfigDescriptor[]): readonly string[] {
  return loadResources([resource("r", ...descriptors)], { mergeDomains: false }).diagnostics.map(
    formatDiagnostic,
  );
}

const day = { unit: Unit.DAY, requestsPerUnit: 3 };

test("a resource loads like a file with the same content", () => {
  const fromResource = loadResources(
    [
      resource("r", {
        key: "a",
        value: "x*",
        shadowMode: true,
        quotaMode: true,
        detailedMetric: true,
        metadata: { n: [1] },
        rateLimit: { unit: Unit.HOUR, requestsPerUnit: 7, name: "n", replaces: [{ name: "o" }] },
        descriptors: [{ key: "b", value: "", rateLimit: { unlimited: true, name: "o" } }],
      }),
    ],
    { mergeDomains: false },
  );
  const text = `
domain: d
descriptors:
  - key: a
    value: "x*"
    shadow_mode: true
    quota_mode: true
    detailed_metric: true
    metadata: { n: [1] }
    rate_limit: { unit: hour, requests_per_unit: 7, name: n, replaces: [{ name: o }] }
    descriptors:
      - { key: b, rate_limit: { unlimited: true, name: o } }`;
  const fromFile = loadRules([{ name: "r", text }], { mergeDomains: false });
  assert.deepEqual([fromResource.diagnostics, fromFile.diagnostics], [[], []]);
  const placeless = (rule: Rule) => ({ ...rule, location: undefined });
  assert.deepEqual(
    Array.from(fromResource.ruleSet?.rules() ?? [], placeless),
    Array.from(fromFile.ruleSet?.rules() ?? [], placeless),
  );
  const nested = fromResource.ruleSet?.match("d", entriesOf("a=x1,b=2"))?.rule;
  const path = "descriptors[0].descriptors[0]";
  assert.deepEqual(nested?.location, { file: "r", line: 0, column: 0, path });
});

/** descriptor | its diagnostics, located at `resource: field` */
const rows: readonly (readonly [string, RateLimitConfigDescriptor, readonly string[]])[] = [
  ["a number of 0 blocks all", { key: "k", rateLimit: { unit: Unit.DAY } }, []],
  ["a descriptor without a policy has no limit", { key: "k" }, []],
  ["unlimited alone", { key: "k", rateLimit: { unlimited: true, unit: 0, requestsPerUnit: 0 } }, []],
  [
    "unit 0 without unlimited",
    { key: "k", rateLimit: { requestsPerUnit: 5 } },
    [
      "r: descriptors[0].rate_limit.unit: `unit` is missing: give second, minute, hour, day, week, month or year, or `unlimited: true`",
    ],
  ],
  [
    "an unknown unit number",
    { key: "k", rateLimit: { unit: 8, requestsPerUnit: 5 } },
    ["r: descriptors[0].rate_limit.unit: unknown unit number 8: use 1 to 7"],
  ],
  [
    "a unit with unlimited",
    { key: "k", rateLimit: { unlimited: true, unit: Unit.DAY } },
    [
      "r: descriptors[0].rate_limit.unit: `unit` has no meaning with `unlimited: true`: leave out one of them",
    ],
  ],
  [
    "a number with unlimited",
    { key: "k", rateLimit: { unlimited: true, requestsPerUnit: 5 } },
    [
      "r: descriptors[0].rate_limit.requests_per_unit: warning: `requests_per_unit` has no effect with `unlimited: true`: leave out one of them",
    ],
  ],
  [
    "an empty key, nested",
    { key: "k", descriptors: [{ key: "", rateLimit: day }] },
    [
      "r: descriptors[0].descriptors[0].key: `key` is missing or empty: a descriptor needs the key of its entry",
    ],
  ],
  [
    "an empty replaces entry",
    { key: "k", rateLimit: { ...day, replaces: [{}] } },
    [
      "r: descriptors[0].rate_limit.replaces[0].name: an item of `replaces` has no name: write `- name: NAME`",
    ],
  ],
  [
    "a limit that replaces itself",
    { key: "k", rateLimit: { ...day, name: "n", replaces: [{ name: "n" }] } },
    ['r: descriptors[0].rate_limit.replaces[0].name: a limit cannot replace itself: "n" is its own name'],
  ],
];

for (const [what, descriptor, expected] of rows) {
  test(`over xDS: ${what}`, () => assert.deepEqual(faults(descriptor), expected));
}

test("over xDS: a rule with 0 requests blocks all", () => {
  const { ruleSet } = loadResources([resource("r", { key: "k", rateLimit: { unit: Unit.DAY } })], {
    mergeDomains: false,
  });
  const rule = ruleSet?.match("d", entriesOf("k=v"))?.rule;
  assert.deepEqual([rule?.requestsPerUnit, rule?.unlimited], [0, false]);
});

test("over xDS: duplicate descriptors", () => {
  assert.deepEqual(faults({ key: "k", rateLimit: day }, { key: "k", value: "", rateLimit: day }), [
    "r: descriptors[1]: duplicate descriptor `k`: the first is in r: descriptors[0]",
  ]);
});

test("over xDS: an empty domain, and one without a name", () => {
  const { diagnostics } = loadResources([{ name: "", domain: "", descriptors: [] }], { mergeDomains: false });
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    "(unnamed resource): domain: `domain` is missing or empty: give the rules a domain",
  ]);
});

test("over xDS: two resources of one domain are merged in the order of their names, or an error", () => {
  const all = [
    resource("2", { key: "k", value: "*b*", rateLimit: day }),
    resource("1", { key: "k", value: "*a*", rateLimit: { ...day, requestsPerUnit: 1 } }),
  ];
  const { ruleSet } = loadResources(all, { mergeDomains: true });
  assert.equal(ruleSet?.match("d", entriesOf("k=ba"))?.rule.requestsPerUnit, 1);
  const separate = loadResources(all, { mergeDomains: false });
  assert.equal(separate.ruleSet, undefined);
  assert.deepEqual(
    separate.diagnostics.map(({ code }) => code),
    ["duplicate-domain"],
  );
});

test("over xDS: an empty list of resources gives a configuration without domains", () => {
  const { ruleSet, diagnostics } = loadResources([], { mergeDomains: false });
  assert.deepEqual([ruleSet?.domains, diagnostics], [[], []]);
});

test("over xDS: metadata is a frozen copy of the received one", () => {
  const metadata = { list: [{ a: 1 }] };
  const { ruleSet } = loadResources([resource("r", { key: "k", metadata, rateLimit: day })], {
    mergeDomains: false,
  });
  metadata.list[0]!.a = 2;
  const kept = ruleSet?.match("d", entriesOf("k=v"))?.rule.metadata as unknown as typeof metadata;
  assert.deepEqual(kept, { list: [{ a: 1 }] });
  assert.ok(Object.isFrozen(kept) && Object.isFrozen(kept.list) && Object.isFrozen(kept.list[0]));
});

test("over xDS: nesting is bounded", () => {
  let descriptor: RateLimitConfigDescriptor = { key: "k" };
  for (let depth = 0; depth < 5000; depth++) descriptor = { key: "k", descriptors: [descriptor] };
  const { diagnostics } = loadResources([resource("r", descriptor)], { mergeDomains: false });
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["too-deep"],
  );
});

type Extended = readonly [name: string, yaml: string, RateLimitConfigDescriptor];

const extended: readonly Extended[] = [
  [
    "a token bucket",
    "{ key: k, rate_limit: { unit: second, requests_per_unit: 10, algorithm: token_bucket, burst: 50 } }",
    { key: "k", rateLimit: { unit: Unit.SECOND, requestsPerUnit: 10, algorithm: 2, burst: 50 } },
  ],
  [
    "a multiplied unit with accepted hits and a look that is strict",
    "{ key: k, rate_limit: { unit: minute, unit_multiplier: 15, requests_per_unit: 5, count: accepted, strict: true } }",
    {
      key: "k",
      rateLimit: { unit: Unit.MINUTE, unitMultiplier: 15, requestsPerUnit: 5, count: 2, strict: true },
    },
  ],
  [
    "a limit whose decisions see reservations",
    "{ key: k, rate_limit: { unit: day, requests_per_unit: 5, reservations: true } }",
    { key: "k", rateLimit: { unit: Unit.DAY, requestsPerUnit: 5, reservations: true } },
  ],
  [
    "a calendar",
    "{ key: k, rate_limit: { unit: week, requests_per_unit: 5, calendar: { time_zone: Europe/Berlin, week_starts: sunday } } }",
    {
      key: "k",
      rateLimit: {
        unit: Unit.WEEK,
        requestsPerUnit: 5,
        calendar: { timeZone: "Europe/Berlin", weekStarts: 6 },
      },
    },
  ],
  ...weekdays.map(
    (day, number): Extended => [
      `a week that starts on ${day}`,
      `{ key: k, rate_limit: { unit: week, requests_per_unit: 5, calendar: { week_starts: ${day} } } }`,
      { key: "k", rateLimit: { unit: Unit.WEEK, requestsPerUnit: 5, calendar: { weekStarts: number } } },
    ],
  ),
  [
    "count: all",
    "{ key: k, rate_limit: { unit: day, requests_per_unit: 5, count: all } }",
    { key: "k", rateLimit: { unit: Unit.DAY, requestsPerUnit: 5, count: 1 } },
  ],
  [
    "a wide number",
    "{ key: k, rate_limit: { unit: day, requests_per_unit: 9007199254740991 } }",
    { key: "k", rateLimit: { unit: Unit.DAY, wideRequestsPerUnit: 2n ** 53n - 1n } },
  ],
  [
    "a list",
    "{ key: k, rate_limits: [{ unit: second, requests_per_unit: 5 }, { unit: hour, requests_per_unit: 9, name: h, algorithm: sliding_window }] }",
    {
      key: "k",
      rateLimits: [
        { unit: Unit.SECOND, requestsPerUnit: 5 },
        { unit: Unit.HOUR, requestsPerUnit: 9, name: "h", algorithm: 1 },
      ],
    },
  ],
];

for (const [name, yaml, descriptor] of extended) {
  test(`over xDS as in a file: ${name}`, () => {
    const { ruleSet, diagnostics } = loadResources([resource("r", descriptor)], { mergeDomains: false });
    assert.deepEqual(diagnostics, []);
    const found = ruleSet!.match("d", entriesOf("k=v"))!.rule;
    const expected = rulesOf(`domain: d\ndescriptors: [${yaml}]`).match("d", entriesOf("k=v"))!.rule;
    assert.ok(found.limits !== undefined);
    assert.deepEqual(found.limits, expected.limits);
    assert.deepEqual(found.requestsPerUnit, expected.requestsPerUnit);
  });
}

test("over xDS: a store may support fixed windows only", () => {
  const bucket = { key: "a", rateLimit: { ...day, algorithm: 2 } };
  const listed = { key: "b", rateLimits: [day, { unit: Unit.WEEK, requestsPerUnit: 9, algorithm: 1 }] };
  const options = { mergeDomains: false, fixedWindowsOnly: "the store counts only" };
  const { ruleSet, diagnostics } = loadResources([resource("r", bucket, listed)], options);
  assert.equal(ruleSet, undefined);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    "r: descriptors[0].rate_limit.algorithm: `token_bucket` is not available: the store counts only",
    "r: descriptors[1].rate_limits[1].algorithm: `sliding_window` is not available: the store counts only",
  ]);
});

test("over xDS: faults of the added fields", () => {
  assert.deepEqual(
    faults(
      { key: "a", rateLimit: { ...day, algorithm: 7 } },
      { key: "b", rateLimit: { ...day, wideRequestsPerUnit: 5n } },
      { key: "c", rateLimit: { unit: Unit.DAY, wideRequestsPerUnit: 2n ** 53n } },
      { key: "d", rateLimit: { ...day, burst: 5 } },
      { key: "e", rateLimit: { ...day, calendar: { timeZone: "Mars/Base" } } },
      { key: "f", rateLimit: { ...day, unitMultiplier: 4_000_000_000 } },
      { key: "g", rateLimit: { ...day, algorithm: 2, burst: 1_000_000_001 } },
      { key: "h", rateLimit: day, rateLimits: [day] },
    ),
    [
      "r: descriptors[0].rate_limit.algorithm: unknown `algorithm` number 7: use 0 to 2",
      "r: descriptors[1].rate_limit.wide_requests_per_unit: either `requests_per_unit` or `wide_requests_per_unit` must be 0: set one of them",
      "r: descriptors[2].rate_limit.wide_requests_per_unit: `wide_requests_per_unit` must be at most 9007199254740991: 9007199254740992",
      "r: descriptors[5].rate_limit.unit_multiplier: `unit_multiplier` must be at most 315360000: 4000000000",
      "r: descriptors[6].rate_limit.burst: `burst` must be at most 1000000000: 1000000001",
      "r: descriptors[3].rate_limit.burst: `burst` belongs to `algorithm: token_bucket`, but this limit has `fixed_window`: leave out one of them",
      'r: descriptors[4].rate_limit.calendar.time_zone: unknown time zone "Mars/Base": use an IANA name such as Europe/Berlin or UTC',
      "r: descriptors[7].rate_limits: a descriptor has either `rate_limit` or `rate_limits`: put all limits into the list",
    ],
  );
});
