import assert from "node:assert/strict";
import { test } from "node:test";
import { Unit } from "../../src/protocol/messages.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { loadResources, loadRules } from "../../src/rules/load-rules.ts";
import type { RateLimitConfigDescriptor, RateLimitConfigResource } from "../../src/rules/resource.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { entriesOf } from "./helpers.ts";

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
