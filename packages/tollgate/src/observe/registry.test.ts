import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { MAX_NAME_BYTES } from "./names.ts";
import { pageOf } from "./page.fixture.ts";
import { createStatistics } from "./registry.ts";
import { counterName, type StatisticsView } from "./series.ts";

function values(view: StatisticsView): Record<string, number> {
  const all: Record<string, number> = {};
  for (const series of view.counters)
    for (let stat = 0; stat < series.stats.length; stat++) all[counterName(series, stat)] = series.read(stat);
  return all;
}

const key = (domain: string, ...levels: string[]) => ({ domain, levels });

describe("the registry", () => {
  it("counts the six statistics of a rule under the contract's names", () => {
    const registry = createStatistics();
    const rule = registry.rule(key("basic", "key1_v", "key2"), false);
    rule.totalHits += 6;
    rule.overLimit += 5;
    rule.nearLimit += 4;
    rule.withinLimit += 3;
    rule.shadowMode += 2;
    rule.overLimitWithLocalCache += 1;
    rule.totalNegativeHits += 7;
    assert.deepEqual(values(registry), {
      "ratelimit.service.rate_limit.basic.key1_v.key2.total_hits": 6,
      "ratelimit.service.rate_limit.basic.key1_v.key2.over_limit": 5,
      "ratelimit.service.rate_limit.basic.key1_v.key2.near_limit": 4,
      "ratelimit.service.rate_limit.basic.key1_v.key2.within_limit": 3,
      "ratelimit.service.rate_limit.basic.key1_v.key2.shadow_mode": 2,
      "ratelimit.service.rate_limit.basic.key1_v.key2.over_limit_with_local_cache": 1,
      "ratelimit.service.rate_limit.basic.key1_v.key2.total_negative_hits": 7,
    });
    assert.deepEqual(registry.counters[0]!.labels, { domain: "basic", key1: "key1_v", key2: "key2" });
  });

  it("returns the same object for keys with the same emitted name", () => {
    const registry = createStatistics();
    assert.equal(registry.rule(key("d", "a:b"), true), registry.rule(key("d", "a|b"), true));
    assert.equal(registry.rule(key("d", "a:b"), true), registry.rule(key("d", "a_b"), false));
    assert.notEqual(registry.rule(key("d", "a", "b"), true), registry.rule(key("d", "a.b"), true));
    assert.notEqual(registry.rule(key("d", "a\0b"), true), registry.rule(key("d", "a", "b"), true));
  });

  it("takes labels from the rule, so that domains may contain dots", () => {
    const registry = createStatistics();
    registry.rule(key("shop.example.com", "path", "remote_address_1.2.3.4", "x.y"), true);
    assert.deepEqual(registry.counters[0]!.labels, {
      domain: "shop.example.com",
      key1: "path",
      key2: "remote_address_1_2_3_4.x.y",
    });
  });

  it("counts keys beyond the bound in `_other`, and never holds more", () => {
    const registry = createStatistics({ maxDynamicKeys: 3 });
    registry.rule(key("d", "configured"), false).totalHits++;
    for (let i = 0; i < 50; i++) registry.rule(key("d", `user_${i}`), true).totalHits++;
    const { "ratelimit.service.rate_limit.d._other.total_hits": other, ...rest } = values(registry);
    assert.equal(other, 47);
    assert.equal(Object.keys(rest).filter((name) => name.includes("user_")).length, 3 * 7);
    assert.equal(registry.rule(key("d", "configured"), false).totalHits, 1);
    assert.equal(registry.rule(key("d", "user_1"), true).totalHits, 1);
  });

  it("shares the bound with unknown domains", () => {
    const registry = createStatistics({ maxDynamicKeys: 2 });
    for (let i = 0; i < 20; i++) registry.domainNotFound(`unknown${i}`).value++;
    registry.rule(key("d", "user_1"), true).totalHits++;
    const all = values(registry);
    assert.equal(all["ratelimit.service.rate_limit.unknown1.domain_not_found"], 1);
    assert.equal(all["ratelimit.service.rate_limit._other.domain_not_found"], 18);
    assert.equal(all["ratelimit.service.rate_limit.d._other.total_hits"], 1);
  });

  it("loses no hit and emits no name over 512 bytes, whatever keys requests have", () => {
    const parts = fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), fc.nat(10), (keys, bound) => {
        const registry = createStatistics({ maxDynamicKeys: bound });
        for (const [domain, ...levels] of keys) registry.rule(key(domain!, ...levels), true).totalHits++;
        const all = Object.entries(values(registry));
        for (const [name] of all) assert.ok(Buffer.byteLength(name) <= MAX_NAME_BYTES, name);
        const hits = registry.counters.reduce((sum, series) => sum + series.read(0), 0);
        assert.equal(hits, keys.length);
      }),
      { numRuns: 50 },
    );
  });

  it("also bounds the bytes of names from requests, and loses no hit of keys beyond the bound", () => {
    const registry = createStatistics({ maxDynamicKeys: 100 });
    const long = (index: number) => `${index}`.padEnd(600, "x");
    for (let index = 0; index < 200; index++) {
      registry.rule(key("d", long(index)), true).totalHits++;
      registry.domainNotFound(long(index + 1000)).value++;
    }
    const names = registry.counters.map(({ name }) => name).filter((name) => name.includes("xxx"));
    const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
    assert.ok(bytes > 100 * 200 && bytes <= 100 * (256 + 64), `${bytes} bytes in ${names.length} names`);
    const hits = registry.counters.reduce((sum, series) => sum + series.read(0), 0);
    assert.equal(hits, 400);
  });

  it("gives two long keys with a common beginning the same statistics", () => {
    const registry = createStatistics();
    const start = "x".repeat(600);
    assert.equal(registry.rule(key("d", `${start}a`), true), registry.rule(key("d", `${start}b`), true));
    assert.equal(registry.domainNotFound(`${start}a`), registry.domainNotFound(`${start}b`));
  });

  it("gives a key of many empty levels a name of at most 512 bytes", () => {
    const registry = createStatistics();
    registry.rule(key("d", ...Array<string>(100_000).fill("")), true);
    const name = counterName(registry.counters[0]!, 0);
    assert.ok(Buffer.byteLength(name) <= MAX_NAME_BYTES, String(name.length));
  });

  it("names the store as configured, and does not change users' own names", () => {
    const registry = createStatistics({ kvstoreName: "redis", objcacheName: "memcache" });
    registry.counter("ratelimit.service.call.should_rate_limit.kvstore_error").value++;
    registry.counter("ratelimit.service.call.should_rate_limit.objcache_error").value++;
    registry.gauge("ratelimit.kvstore_pool.cx_active", () => 4);
    registry.rule(key("kvstore", "objcache"), false);
    const names = registry.counters.map(({ name }) => name);
    assert.deepEqual(names, [
      "ratelimit.service.call.should_rate_limit.redis_error",
      "ratelimit.service.call.should_rate_limit.memcache_error",
      "ratelimit.service.rate_limit.kvstore.objcache",
    ]);
    assert.ok([...registry.gauges].some(({ name }) => name === "ratelimit.redis_pool.cx_active"));
  });

  it("separates tags from names", () => {
    const registry = createStatistics();
    registry.counter("ratelimit.objcache.multiget.__code=success").value = 2;
    registry.counter("ratelimit.objcache.multiget.__code=error").value = 1;
    assert.deepEqual(
      registry.counters.map((series) => [series.name, series.tags, series.read(0)]),
      [
        ["ratelimit.objcache.multiget", [{ key: "code", value: "success" }], 2],
        ["ratelimit.objcache.multiget", [{ key: "code", value: "error" }], 1],
      ],
    );
  });

  it("numbers every counter once", () => {
    const registry = createStatistics();
    registry.counter("one");
    registry.rule(key("d", "a"), false);
    registry.domainNotFound("x");
    registry.counter("two");
    assert.deepEqual(
      registry.counters.map(({ firstId, stats }) => [firstId, stats.length]),
      [
        [0, 1],
        [1, 7],
        [8, 1],
        [9, 1],
      ],
    );
    assert.equal(registry.counterCount, 10);
  });

  it("tolerates a gauge whose reader throws", async () => {
    const registry = createStatistics();
    registry.gauge("broken", () => {
      throw new Error("gone");
    });
    registry.gauge("fine", () => 1);
    assert.doesNotMatch(await pageOf(registry), /broken/);
    assert.match(await pageOf(registry), /^fine: 1$/m);
  });
});

it("readers wait for the counts of other threads", async () => {
  const registry = createStatistics();
  const counter = registry.counter("ratelimit.elsewhere");
  registry.beforeRead(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    counter.value++;
  });
  assert.match(await pageOf(registry), /^ratelimit\.elsewhere: 1$/m);
  await registry.refresh();
  assert.equal(counter.value, 2);
});
