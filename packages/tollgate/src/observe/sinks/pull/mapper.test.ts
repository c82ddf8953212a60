// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file format contains them
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { StatisticKind } from "../../catalogue.ts";
import type { Tag } from "../../names.ts";
import { SinkConfigError } from "../../sink-config-error.ts";
import { fileMapping } from "./mapper.ts";
import { parseMapperFile } from "./mapper-file.ts";
import type { Mapped } from "./mapping.ts";

function map(
  yaml: string,
  name: string,
  kind: StatisticKind = "counter",
  tags: readonly Tag[] = [],
): Mapped | undefined {
  return fileMapping(parseMapperFile(yaml, "map.yaml"))({ name, kind, stat: "", rule: undefined, tags });
}

function brief(mapped: Mapped | undefined): string | undefined {
  return mapped && `${mapped.metric}{${mapped.labels.map(({ key, value }) => `${key}=${value}`).join()}}`;
}

describe("a mapping file (PULLSTATS_MAPPER_YAML)", () => {
  const cases: readonly [what: string, mappings: string, name: string, mapped: string | undefined][] = [
    [
      "a glob takes whole parts",
      'match: "ratelimit.service.rate_limit.*.*.total_hits"\nname: hits\nlabels: { domain: "$1", key1: "${2}_x" }',
      "ratelimit.service.rate_limit.d.k.total_hits",
      "hits{domain=d,key1=k_x}",
    ],
    ["a glob does not take more parts", "match: a.*\nname: x", "a.b.c", "a_b_c{}"],
    ["a name may contain references", 'match: a.*.*\nname: "${2}_of_$1"', "a.b.c", "c_of_b{}"],
    ["a glob's $1_total is group 1", 'match: a.*\nname: "n_$1_total"', "a.b", "n_b_total{}"],
    ["an unknown reference is empty", 'match: a.*\nname: n\nlabels: { l: "[$7]" }', "a.b", "n{l=[]}"],
    ["no match keeps the name", "match: a.b\nname: n", "x-1.y", "x_1_y{}"],
    [
      "an expression may match anywhere",
      'match: "rate_limit\\\\.([^.]+)\\\\.(.*)\\\\.over"\nmatch_type: regex\nname: "over_$1"\nlabels: { rest: "${2}" }',
      "ratelimit.service.rate_limit.d.a.b.over_limit",
      "over_d{rest=a.b}",
    ],
    [
      "an expression expands like Go's",
      'match: "^a\\\\.(?P<who>\\\\w+)$"\nmatch_type: regex\nname: n\nlabels: { a: "$1_x", b: "${1}_x", c: "$who", d: "$$1" }',
      "a.b",
      "n{a=,b=b_x,c=b,d=$1}",
    ],
    [
      "the action drop hides a statistic",
      'match: "."\nmatch_type: regex\naction: drop',
      "anything",
      undefined,
    ],
    ["another kind does not match", "match: a.b\nmatch_metric_type: gauge\nname: n", "a.b", "a_b{}"],
    ["the same kind matches", "match: a.b\nmatch_metric_type: counter\nname: n", "a.b", "n{}"],
  ];
  for (const [what, mapping, name, mapped] of cases)
    it(what, () => {
      const yaml = `mappings:\n- ${mapping.replaceAll("\n", "\n  ")}\n`;
      assert.equal(brief(map(yaml, name)), mapped);
    });

  it("lets the first rule win, globs before expressions", () => {
    const yaml = `
mappings:
- { match: "a", match_type: regex, name: expression }
- { match: "a.*", name: first }
- { match: "a.b", name: second }
`;
    assert.equal(map(yaml, "a.b")?.metric, "first");
    assert.equal(map(`defaults: { glob_disable_ordering: true }${yaml}`, "a.b")?.metric, "second");
    assert.equal(map(yaml, "xa")?.metric, "expression");
  });

  it("prefers the statistic's labels with honor_labels, else the file's", () => {
    const tags = [
      { key: "env", value: "tag" },
      { key: "my-key", value: "t" },
    ];
    const yaml = (honor: boolean): string =>
      `mappings:\n- { match: a, name: n, labels: { env: file }, honor_labels: ${honor} }`;
    assert.equal(brief(map(yaml(true), "a", "counter", tags)), "n{env=tag,my_key=t}");
    assert.equal(brief(map(yaml(false), "a", "counter", tags)), "n{env=file,my_key=t}");
  });

  it("reads scale, help, ttl and the observer options, with their defaults", () => {
    const yaml = `
defaults:
  observer_type: histogram
  ttl: 1m
  histogram_options: { buckets: [.1, 1] }
  summary_options: { max_age: 30s, age_buckets: 3, buf_cap: 100, quantiles: [{ quantile: 0.5, error: 0.05 }] }
mappings:
- { match: a, name: a, scale: 0.001, help: "Helps.", ttl: 2m30s }
- { match: b, name: b, observer_type: summary }
- { match: c, name: c, timer_type: histogram, buckets: [1, 2, 3] }
- { match: d, name: d, observer_type: summary, quantiles: [{ quantile: 0.9, error: 0.01 }] }
`;
    assert.deepEqual(map(yaml, "a", "timer"), {
      metric: "a",
      labels: [],
      help: "Helps.",
      scale: 0.001,
      observer: { type: "histogram", bounds: [0.1, 1] },
      ttl: 150_000,
    });
    const summary = { type: "summary", quantiles: [0.5], maxAge: 30_000, ageBuckets: 3, capacity: 100 };
    assert.deepEqual(map(yaml, "b", "timer")?.observer, summary);
    assert.equal(map(yaml, "b", "timer")?.ttl, 60_000);
    assert.deepEqual(map(yaml, "c", "timer")?.observer, { type: "histogram", bounds: [1, 2, 3] });
    assert.deepEqual(map(yaml, "d", "timer")?.observer, { ...summary, quantiles: [0.9] });
    assert.deepEqual(map("mappings: []", "x", "timer")?.observer, {
      type: "summary",
      quantiles: [0.5, 0.9, 0.99],
      maxAge: 600_000,
      ageBuckets: 5,
      capacity: 500,
    });
  });

  it("is not stalled by an expression with catastrophic backtracking", () => {
    const yaml = 'mappings:\n- { match: "^(a+)+$", match_type: regex, name: n }';
    assert.equal(map(yaml, `${"a".repeat(400)}b`)?.metric, `${"a".repeat(400)}b`);
  });

  const faults: readonly [yaml: string, message: RegExp][] = [
    ["mappings: [", /map\.yaml:1:\d+: /],
    ["", /map\.yaml: .*empty/],
    ["mappings: 5", /mappings must be a list/],
    ["- a", /the file must be a map/],
    ["extra: 1", /the file has the unknown key "extra"/],
    ["mappings:\n- name: n", /mapping 1 has no match/],
    ["mappings:\n- match: a", /mapping 1 has no name/],
    [
      "mappings:\n- { match: a, name: n, lables: {} }",
      /mapping 1 has the unknown key "lables"; known keys: .*labels/,
    ],
    ["mappings:\n- { match: a, name: 'b-c' }", /name "b-c" is not a valid metric name/],
    ["mappings:\n- { match: a, name: n, labels: { a-b: x } }", /label "a-b" is not a valid label name/],
    ["mappings:\n- { match: foo*, name: n }", /a \* in a glob must be a whole part/],
    [
      "mappings:\n- { match: '(', match_type: regex, name: n }",
      /match "\(" is not a valid RE2 regular expression/,
    ],
    [
      "mappings:\n- { match: a, name: n, match_type: exact }",
      /match_type is "exact": it must be glob or regex/,
    ],
    ["mappings:\n- { match: a, name: n, action: keep }", /action is "keep": it must be map or drop/],
    ["mappings:\n- { match: a, name: n, ttl: 5 }", /ttl is "5": it must be a duration/],
    ["mappings:\n- { match: a, name: n, scale: big }", /scale is "big": it must be a number/],
    [
      "mappings:\n- { match: a, name: n, observer_type: histogram, summary_options: {} }",
      /is a histogram but has summary_options/,
    ],
    [
      "mappings:\n- { match: a, name: n, observer_type: summary, histogram_options: {} }",
      /is a summary but has histogram_options/,
    ],
    [
      "mappings:\n- { match: a, name: n, observer_type: histogram, buckets: [1], histogram_options: { buckets: [1] } }",
      /has buckets both at the top and in histogram_options/,
    ],
    ["defaults: { ttl: { toString: false } }", /defaults ttl is a map: it must be a duration such as 30s/],
    ["mappings:\n- { match: a, name: n, labels: { l: { toString: 1 } } }", /label "l" must have a text/],
    ["defaults: { buckets: [2, 1] }", /defaults buckets must be in ascending order/],
    ["defaults: { quantiles: [{ quantile: 2 }] }", /a quantile must be between 0 and 1/],
  ];
  for (const [yaml, message] of faults)
    it(`refuses ${JSON.stringify(yaml)}`, () =>
      assert.throws(() => parseMapperFile(yaml, "map.yaml"), {
        name: "SinkConfigError",
        message,
      }));

  it("loads or is rejected with a message, whatever it contains", () => {
    const keys = [
      "defaults",
      "mappings",
      "match",
      "name",
      "labels",
      "ttl",
      "buckets",
      "quantiles",
      "summary_options",
    ];
    const yaml = fc.json({ maxDepth: 4 }).map((json) => JSON.parse(json) as unknown);
    const shaped = fc.dictionary(fc.constantFrom(...keys), yaml);
    const file = fc.record({ defaults: shaped, mappings: fc.array(shaped) });
    fc.assert(
      fc.property(fc.oneof(file, yaml), fc.string(), (value, name) => {
        try {
          const mapping = fileMapping(parseMapperFile(JSON.stringify(value), "map.yaml"));
          mapping({ name, kind: "timer", stat: "", rule: undefined, tags: [] });
        } catch (error) {
          assert.ok(error instanceof SinkConfigError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reports every fault at once", () => {
    assert.throws(
      () => parseMapperFile("mappings:\n- { name: n }\n- { match: b }", "map.yaml"),
      (error: Error) => {
        assert.match(
          error.message,
          /^PULLSTATS_MAPPER_YAML: map\.yaml:\n {2}mapping 1 has no match\n {2}mapping 2 has no name/,
        );
        return true;
      },
    );
  });
});
