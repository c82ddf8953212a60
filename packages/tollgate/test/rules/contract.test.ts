/** One test for each row of the contract's sections on configuration, matching and metric keys, named after the row. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MapStatistics, MapStore, plainOptions } from "../../src/decision/decide.fixture.ts";
import { Decider, type DecisionOptions } from "../../src/decision/decide.ts";
import { UNLIMITED_REMAINING } from "../../src/decision/scratch.ts";
import { Code, type RateLimitResponse } from "../../src/protocol/messages.ts";
import { entriesOf, faultsOf, metricKeyOf, rulesOf } from "./helpers.ts";

/** A rule set of one file, whose rules are given as the content of flow mappings. */
function serve(rules: readonly string[], options: Partial<DecisionOptions> = {}) {
  const ruleSet = rulesOf(config(rules));
  const statistics = new MapStatistics();
  const store = new MapStore();
  const decider = new Decider({ ...plainOptions, ...options }, statistics, store);
  const ask = (...descriptors: string[]) => {
    const request = {
      domain: "d",
      hitsAddend: 0,
      descriptors: descriptors.map((text) => {
        return { entries: entriesOf(text), limit: undefined, hitsAddend: undefined, isNegativeHits: false };
      }),
    };
    return decider.decide(decider.prepare(request, ruleSet), 1_783_296_005_250, 0) as RateLimitResponse;
  };
  const code = (...descriptors: string[]) =>
    ask(...descriptors).overallCode === Code.OK ? "OK" : "OVER_LIMIT";
  const limitOf = (text: string) => ruleSet.match("d", entriesOf(text))?.rule.requestsPerUnit;
  const metricKey = (text: string) => metricKeyOf(ruleSet.match("d", entriesOf(text)));
  return { ruleSet, statistics, store, ask, code, limitOf, metricKey };
}

function config(rules: readonly string[]): string {
  return `domain: d\ndescriptors:\n${rules.map((rule) => `  - { ${rule} }\n`).join("")}`;
}

function errorsOf(...rules: string[]): readonly string[] {
  return faultsOf(config(rules)).map((fault) => fault.split(" ")[2]!);
}

const limit = (requests: number) => `rate_limit: { unit: day, requests_per_unit: ${requests} }`;

suite("contract, configuration file, top level", () => {
  test("`domain`: string, required", () => {
    assert.deepEqual(rulesOf("domain: some domain\ndescriptors: []").domains, ["some domain"]);
    assert.deepEqual(faultsOf("descriptors: []"), ["1:1 error empty-domain"]);
  });

  test("`descriptors`: list of descriptor, required", () => {
    assert.deepEqual(faultsOf("domain: d"), ["1:1 error missing-descriptors"]);
    assert.deepEqual(faultsOf("domain: d\ndescriptors: x"), ["2:14 error wrong-type"]);
  });
});

suite("contract, configuration file, descriptor", () => {
  test("`key`: string, required, case-sensitive", () => {
    const { limitOf } = serve([`key: Key, ${limit(1)}`]);
    assert.deepEqual([limitOf("Key=v"), limitOf("key=v")], [1, undefined]);
    assert.deepEqual(errorsOf("value: v"), ["empty-key"]);
  });

  test("`value`: string; enables a more specific match; may end with `*` as a wildcard", () => {
    const { limitOf } = serve([
      `key: k, value: v, ${limit(1)}`,
      `key: k, value: "w*", ${limit(2)}`,
      `key: k, ${limit(3)}`,
    ]);
    assert.deepEqual([limitOf("k=v"), limitOf("k=way"), limitOf("k=x")], [1, 2, 3]);
  });

  test("`rate_limit`: the actual limit", () => {
    const { code } = serve([`key: k, ${limit(1)}`, "key: none"]);
    assert.deepEqual(
      [code("k=v"), code("k=v"), code("none=v"), code("none=v")],
      ["OK", "OVER_LIMIT", "OK", "OK"],
    );
  });

  test("`shadow_mode`: default false; outcome of this rule is always OK", () => {
    const { code } = serve([`key: on, shadow_mode: true, ${limit(0)}`, `key: off, ${limit(0)}`]);
    assert.deepEqual([code("on=v"), code("off=v")], ["OK", "OVER_LIMIT"]);
  });

  test("`detailed_metric`: default false; unique metric per matched value when there is no explicit value", () => {
    const { metricKey } = serve([`key: on, detailed_metric: true, ${limit(1)}`, `key: off, ${limit(1)}`]);
    assert.deepEqual(
      [metricKey("on=1"), metricKey("on=2"), metricKey("off=1")],
      ["d.on_1", "d.on_2", "d.off"],
    );
  });

  test("`value_to_metric`: default false; the value in the metric key when it is not explicit", () => {
    const { metricKey } = serve([`key: on, value_to_metric: true, ${limit(1)}`, `key: off, ${limit(1)}`]);
    assert.deepEqual([metricKey("on=1"), metricKey("off=1")], ["d.on_1", "d.off"]);
  });

  test("`share_threshold`: default false; only valid with a wildcard value; all its values share one counter", () => {
    const { code } = serve([
      `key: on, value: "a*", share_threshold: true, ${limit(1)}`,
      `key: off, value: "a*", ${limit(1)}`,
    ]);
    assert.deepEqual([code("on=a1"), code("on=a2")], ["OK", "OVER_LIMIT"]);
    assert.deepEqual([code("off=a1"), code("off=a2")], ["OK", "OK"]);
    assert.deepEqual(errorsOf(`key: k, value: v, share_threshold: true, ${limit(1)}`), [
      "share-threshold-without-wildcard",
    ]);
  });

  test("`descriptors`: nested descriptors", () => {
    const { limitOf } = serve([`key: a, descriptors: [{ key: b, descriptors: [{ key: c, ${limit(3)} }] }]`]);
    assert.equal(limitOf("a=1,b=2,c=3"), 3);
  });
});

suite("contract, configuration file, rate_limit", () => {
  test("`unit`: second, minute, hour, day; required unless `unlimited`", () => {
    for (const [unit, seconds] of Object.entries({ second: 1, minute: 60, hour: 3600, day: 86400 })) {
      const { ask, store } = serve([`key: k, rate_limit: { unit: ${unit}, requests_per_unit: 1 }`]);
      ask("k=v");
      const start = 1_783_296_005 - (1_783_296_005 % seconds);
      assert.deepEqual([...store.counters.keys()], [`d|k=v|${unit}:${start}`]);
    }
    assert.deepEqual(errorsOf("key: k, rate_limit: { unit: moment, requests_per_unit: 1 }"), [
      "unknown-unit",
    ]);
    assert.deepEqual(errorsOf("key: k, rate_limit: { requests_per_unit: 1 }"), ["missing-unit"]);
  });

  test("`requests_per_unit`: unsigned integer, required unless `unlimited`; 0 blocks all requests", () => {
    assert.equal(serve([`key: k, ${limit(0)}`]).code("k=v"), "OVER_LIMIT");
    assert.deepEqual(errorsOf("key: k, rate_limit: { unit: day }"), ["missing-requests-per-unit"]);
    assert.deepEqual(errorsOf(`key: k, ${limit(-1)}`), ["bad-number"]);
  });

  test("`name` and `replaces`: names this limit; names of limits this rule replaces", () => {
    const [rule] = serve(["key: k, rate_limit: { unlimited: true, name: n }"]).ruleSet.rules();
    assert.equal(rule?.name, "n");
    const { statistics, ask } = serve([
      "key: a, rate_limit: { unit: day, requests_per_unit: 0, name: n }",
      "key: b, rate_limit: { unit: day, requests_per_unit: 9, replaces: [{ name: n }] }",
    ]);
    assert.equal(ask("a=1", "b=1").overallCode, Code.OK);
    assert.deepEqual(
      [...statistics.rules.keys()].filter((key) => statistics.rules.get(key)?.totalHits),
      ["d.b"],
    );
  });

  test("`unlimited`: when true the rule never limits", () => {
    const { code } = serve(["key: k, rate_limit: { unlimited: true }"]);
    for (let call = 0; call < 10; call++) assert.equal(code("k=v"), "OK");
  });
});

suite("contract, matching rules", () => {
  test("1: as many entries in the request as levels down to the `rate_limit`", () => {
    const { limitOf } = serve([`key: a, ${limit(1)}`, `key: b, descriptors: [{ key: c, ${limit(2)} }]`]);
    assert.deepEqual([limitOf("a=1"), limitOf("a=1,x=1"), limitOf("a=1,a=1")], [1, undefined, undefined]);
    assert.deepEqual([limitOf("b=1,c=1"), limitOf("b=1"), limitOf("c=1")], [2, undefined, undefined]);
  });

  test("2: key and value before key only", () => {
    const { limitOf } = serve([`key: k, ${limit(1)}`, `key: k, value: v, ${limit(2)}`]);
    assert.deepEqual([limitOf("k=v"), limitOf("k=w")], [2, 1]);
  });

  test("3: a key-only entry matches any value, with a separate counter per distinct value", () => {
    const { code, store } = serve([`key: k, ${limit(1)}`]);
    assert.deepEqual([code("k=1"), code("k=2"), code("k="), code("k=1")], ["OK", "OK", "OK", "OVER_LIMIT"]);
    assert.equal(store.counters.size, 3);
  });

  test("4: a value ending with `*` matches every value with that prefix, each with its own counter", () => {
    const { code, limitOf } = serve([`key: k, value: "ab*", ${limit(1)}`]);
    assert.deepEqual(
      [limitOf("k=ab"), limitOf("k=abc"), limitOf("k=a"), limitOf("k=xab")],
      [1, 1, undefined, undefined],
    );
    assert.deepEqual([code("k=ab1"), code("k=ab2"), code("k=ab1")], ["OK", "OK", "OVER_LIMIT"]);
  });

  test("5: `share_threshold` makes all values that match the wildcard use one cache key", () => {
    const { ask, store } = serve([`key: k, value: "ab*", share_threshold: true, ${limit(5)}`]);
    for (const value of ["ab1", "ab2", "ab"]) ask(`k=${value}`);
    assert.deepEqual([...store.counters.values()], [3]);
  });

  test("6: without `rate_limit` and nested descriptors whitelisted; with nested ones a placeholder", () => {
    const { ask, store } = serve([
      `key: k, ${limit(0)}`,
      "key: k, value: free",
      `key: p, descriptors: [{ key: q, ${limit(0)} }]`,
    ]);
    assert.deepEqual(
      ask("k=free", "p=1", "p=1,q=1", "k=other").statuses.map(({ code }) => code),
      [Code.OK, Code.OK, Code.OVER_LIMIT, Code.OVER_LIMIT],
    );
    assert.equal(store.counters.size, 2);
  });

  test("7: every matching rule is evaluated; the overall result is the logical OR", () => {
    const { ask, code, store } = serve([`key: a, ${limit(1)}`, `key: b, ${limit(3)}`]);
    assert.deepEqual([code("a=1", "b=1"), code("a=1", "b=1"), code("b=1")], ["OK", "OVER_LIMIT", "OK"]);
    assert.deepEqual(
      ask("a=1", "b=1", "c=1").statuses.map(({ code }) => code),
      [Code.OVER_LIMIT, Code.OVER_LIMIT, Code.OK],
    );
    assert.deepEqual([...store.counters.values()], [3, 4]);
  });

  test("8: `replaces`: only the replacing rule takes effect, and the original's counter is not changed", () => {
    const { ask, code, store } = serve([
      "key: a, rate_limit: { unit: day, requests_per_unit: 1, name: N }",
      "key: b, rate_limit: { unit: day, requests_per_unit: 9, replaces: [{ name: N }] }",
    ]);
    for (let call = 0; call < 3; call++) assert.equal(ask("a=1", "b=1").overallCode, Code.OK);
    assert.deepEqual([...store.counters.values()], [3]);
    assert.deepEqual([code("a=1"), code("a=1")], ["OK", "OVER_LIMIT"]);
  });

  test("9: `unlimited`: not sent to the store; OK and the greatest uint32 remaining", () => {
    const { ask, store } = serve(["key: k, rate_limit: { unlimited: true }"]);
    const [status] = ask("k=v").statuses;
    assert.deepEqual([status?.code, status?.limitRemaining], [Code.OK, 4_294_967_295]);
    assert.equal(UNLIMITED_REMAINING, 4_294_967_295);
    assert.equal(store.asked, 0);
  });

  test("10: `shadow_mode`: all processing as normal, always OK, and a statistic of how often that was overridden", () => {
    const { ask, store, statistics } = serve([`key: k, shadow_mode: true, ${limit(1)}`]);
    for (let call = 0; call < 3; call++) assert.equal(ask("k=v").overallCode, Code.OK);
    assert.deepEqual([...store.counters.values()], [3]);
    const { totalHits, overLimit, shadowMode } = statistics.rule({ domain: "d", levels: ["k"] });
    assert.deepEqual([totalHits, overLimit, shadowMode], [3, 2, 2]);
  });

  test("11: SHADOW_MODE overrides every regular result, and a service-level statistic counts that", () => {
    const { ask, statistics } = serve([`key: k, ${limit(1)}`], { shadowMode: true });
    for (let call = 0; call < 3; call++) assert.equal(ask("k=v").overallCode, Code.OK);
    assert.equal(statistics.counter("ratelimit.service.global_shadow_mode").value, 2);
  });
});

suite("contract, metric key composition", () => {
  test("1: the domain, then for each level the key, with `_<value>` when the value is explicit", () => {
    const { metricKey } = serve([`key: a, value: x, descriptors: [{ key: b, ${limit(1)} }]`]);
    assert.equal(metricKey("a=x,b=y"), "d.a_x.b");
  });

  test("2: a key-only entry is rolled into the base entry unless `detailed_metric`", () => {
    const { metricKey } = serve([`key: a, ${limit(1)}`, `key: b, detailed_metric: true, ${limit(1)}`]);
    assert.deepEqual([metricKey("a=1"), metricKey("b=1")], ["d.a", "d.b_1"]);
  });

  test("3: `value_to_metric` appends the value when it is not explicit, with a wildcard the full one", () => {
    const { metricKey } = serve([
      `key: a, value_to_metric: true, ${limit(1)}`,
      `key: b, value: "x*", value_to_metric: true, ${limit(1)}`,
      `key: c, value: x, value_to_metric: true, ${limit(1)}`,
    ]);
    assert.deepEqual([metricKey("a=1"), metricKey("b=xyz"), metricKey("c=x")], ["d.a_1", "d.b_xyz", "d.c_x"]);
  });

  test("4: `detailed_metric` takes precedence over `value_to_metric` on the same descriptor", () => {
    const { metricKey } = serve([
      `key: a, detailed_metric: true, value_to_metric: true, ${limit(1)}`,
      `key: b, value: "x*", detailed_metric: true, value_to_metric: true, ${limit(1)}`,
    ]);
    assert.deepEqual([metricKey("a=1"), metricKey("b=xyz")], ["d.a_1", "d.b_xyz"]);
  });

  test("5: with `share_threshold` and either flag the part before `*` replaces the value", () => {
    const { metricKey } = serve([
      `key: a, value: "x*", share_threshold: true, value_to_metric: true, ${limit(1)}`,
      `key: b, value: "x*", share_threshold: true, detailed_metric: true, ${limit(1)}`,
    ]);
    assert.deepEqual([metricKey("a=xyz"), metricKey("b=xyz")], ["d.a_x", "d.b_x"]);
  });
});
