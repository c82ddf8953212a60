import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { pageOf } from "./page.fixture.ts";
import { createStatistics, type Registry } from "./registry.ts";
import { counterName } from "./series.ts";
import { FilterError } from "./stats-page.ts";
import { sortInTurns } from "./yielding.ts";

function filled(): Registry {
  const registry = createStatistics();
  registry.counter("ratelimit.service.config_load_success").value = 2;
  registry.rule({ domain: "d", levels: ["b"] }, false).totalHits = 7;
  registry.rule({ domain: "d", levels: ["a"] }, false).overLimit = 3;
  registry.gauge("ratelimit.kvstore_pool.cx_active", () => 1.5);
  registry.timer("ratelimit_server.ShouldRateLimit.response_time").record(0.25);
  return registry;
}

describe("/stats", () => {
  it("prints `name: value` lines, sorted", async () => {
    const lines = (await pageOf(filled())).trimEnd().split("\n");
    assert.deepEqual(lines, [...lines].sort());
    for (const line of lines) assert.match(line, /^\S+: -?[\d.e-]+$/);
    for (const line of [
      "ratelimit.service.config_load_success: 2",
      "ratelimit.service.rate_limit.d.b.total_hits: 7",
      "ratelimit.service.rate_limit.d.a.over_limit: 3",
      "ratelimit.service.rate_limit.d.a.total_hits: 0",
      "ratelimit.kvstore_pool.cx_active: 1.5",
      "ratelimit_server.ShouldRateLimit.response_time.count: 1",
      "ratelimit_server.ShouldRateLimit.response_time.max_ms: 0.25",
    ])
      assert.ok(lines.includes(line), line);
  });

  it("shows live values", async () => {
    const registry = filled();
    registry.counter("ratelimit.service.config_load_success").value++;
    assert.match(await pageOf(registry), /^ratelimit\.service\.config_load_success: 3$/m);
  });

  it("filters by a regular expression", async () => {
    assert.equal(
      await pageOf(filled(), { filter: "\\.(a|b)\\.total_hits$" }),
      "ratelimit.service.rate_limit.d.a.total_hits: 0\nratelimit.service.rate_limit.d.b.total_hits: 7\n",
    );
  });

  it("is JSON on request", async () => {
    const all = JSON.parse(await pageOf(filled(), { json: true }));
    assert.equal(all["ratelimit.service.rate_limit.d.b.total_hits"], 7);
    assert.deepEqual(JSON.parse(await pageOf(filled(), { json: true, filter: "no such" })), {});
  });

  for (const filter of ["(", "a{2001}", "x".repeat(1001), "(?<=a)b", "\\1"])
    it(`refuses the filter ${filter.slice(0, 10)} with a clear error`, () => {
      assert.throws(
        () => filled().snapshot({ filter }),
        (error: unknown) => {
          assert.ok(error instanceof FilterError);
          assert.equal(error.code, "BAD_FILTER");
          assert.match(error.message, /^filter is /);
          return true;
        },
      );
    });

  it("is not stalled by an expression with catastrophic backtracking", async () => {
    const registry = createStatistics();
    registry.counter(`${"a".repeat(500)}b`);
    assert.equal(await pageOf(registry, { filter: "^(a+)+$" }), "");
  });

  it("yields to other work while it prints many keys", async () => {
    const registry = createStatistics();
    for (let i = 0; i < 5000; i++) registry.rule({ domain: "d", levels: [`user_${i}`] }, true).totalHits = i;
    let turns = 0;
    let immediate = setImmediate(function count() {
      turns++;
      immediate = setImmediate(count);
    });
    const text = await pageOf(registry).finally(() => clearImmediate(immediate));
    assert.equal(text.split("\n").length - 1, 5000 * 7 + 1);
    assert.ok(turns > 10, `${turns} turns`);
  });

  it("adds the values of keys with the same dotted name", async () => {
    const registry = createStatistics();
    registry.rule({ domain: "d", levels: ["a", "b"] }, false).totalHits = 1;
    registry.rule({ domain: "d", levels: ["a.b"] }, false).totalHits = 2;
    assert.equal(
      await pageOf(registry, { filter: "total_hits" }),
      "ratelimit.service.rate_limit.d.a.b.total_hits: 3\n",
    );
  });
});

describe("the pieces of /stats", () => {
  const part = fc.constantFrom("a", "b", "a.b", "total_hits", "b.over_limit", "", "a ", "a-");
  const keys = fc.array(fc.array(part, { minLength: 1, maxLength: 4 }), { maxLength: 30 });

  it("contain the sorted lines of all keys, each name once, whatever the keys", async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.boolean(), async (all, json) => {
        const registry = createStatistics();
        const expected: Record<string, number> = { "ratelimit.statistics.dynamic_keys": 0 };
        for (const [index, [domain, ...levels]] of all.entries())
          registry.rule({ domain: domain!, levels }, false).totalHits += index + 1;
        for (const series of registry.counters)
          for (let stat = 0; stat < series.stats.length; stat++) {
            const name = counterName(series, stat);
            expected[name] = (expected[name] ?? 0) + series.read(stat);
          }
        const sorted = Object.entries(expected).sort(([one], [other]) => (one < other ? -1 : 1));
        const page = await pageOf(registry, { json });
        if (json) assert.deepEqual(Object.entries(JSON.parse(page)), sorted);
        else assert.equal(page, sorted.map(([name, value]) => `${name}: ${value}\n`).join(""));
      }),
    );
  });

  it("are short, even if one key's name is a prefix of all others", async () => {
    const registry = createStatistics();
    registry.rule({ domain: "d", levels: [] }, false);
    for (let i = 0; i < 5000; i++) registry.rule({ domain: "d", levels: [`user_${i}`] }, true);
    let lines = 0;
    for await (const piece of registry.snapshot()) {
      const count = piece.split("\n").length - 1;
      assert.ok(count <= 1024, `${count} lines in one piece`);
      lines += count;
    }
    assert.equal(lines, 5001 * 7 + 1);
  });
});

describe("sortInTurns", () => {
  it("sorts like sort()", async () => {
    const items = Array.from({ length: 10_001 }, (_, i) => (i * 7919) % 10_007);
    assert.deepEqual(
      await sortInTurns(items, (a, b) => a - b),
      [...items].sort((a, b) => a - b),
    );
    assert.deepEqual(await sortInTurns([], () => 0), []);
  });
});
