import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it, describe as suite } from "node:test";
import { catalogue } from "./catalogue.ts";
import { anchorOf, withCatalogue } from "./catalogue-table.ts";
import { describe } from "./describe-statistic.ts";

const page = new URL("../../../../docs/observability.md", import.meta.url);

suite("the catalogue", () => {
  it("equals the table in docs/observability.md (npm run manual -w packages/tollgate updates it)", () => {
    const committed = readFileSync(page, "utf8");
    assert.equal(committed, withCatalogue(committed));
  });

  it("has unique names, and a meaning for each statistic", () => {
    const names = catalogue.map(({ name }) => name);
    const metrics = catalogue.map(({ metric, labels }) => metric + labels.join());
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(metrics).size, metrics.length);
    for (const { name, metric, labels, meaning } of catalogue) {
      assert.match(meaning, /^[^\n|]+\.$/, name);
      assert.match(metric, /^[a-z][a-zA-Z0-9_<>]*$/, name);
      for (const label of labels) assert.match(label, /^[a-z_][a-z0-9_]*$/, name);
    }
  });

  it("has an anchor for each statistic, which is its metric", () => {
    const anchors = catalogue.map(anchorOf);
    assert.equal(new Set(anchors).size, catalogue.length);
    const text = readFileSync(page, "utf8");
    for (const anchor of anchors) {
      assert.match(anchor, /^\w+$/);
      assert.equal(text.split(`<a id="${anchor}"></a>`).length, 2, anchor);
    }
    assert.ok(anchors.includes("ratelimit_service_rate_limit_over_limit"));
    assert.ok(anchors.includes("ratelimit_statistics_sink_dropped"));
  });

  const cases: readonly [name: string, metric: string, labels: Record<string, string>][] = [
    ["ratelimit.service.config_load_success", "ratelimit_service_config_load_success", {}],
    [
      "ratelimit_server.ShouldRateLimit.total_requests",
      "ratelimit_service_total_requests",
      { grpc_method: "ShouldRateLimit" },
    ],
    [
      "ratelimit.service.call.should_rate_limit.service_error",
      "ratelimit_service_should_rate_limit_error",
      { err_type: "service_error" },
    ],
    [
      "ratelimit.service.call.should_rate_limit.redis_error",
      "ratelimit_service_should_rate_limit_error",
      { err_type: "redis_error" },
    ],
    ["ratelimit.redis_per_second_pool.cx_total", "ratelimit_redis_per_second_pool_cx_total", {}],
    ["ratelimit.memcache.increments_lost", "ratelimit_memcache_increments_lost", {}],
    ["ratelimit.statistics.push.dropped", "ratelimit_statistics_push_dropped", {}],
    ["ratelimit.process.open_fds", "process_open_fds", {}],
    ["ratelimit.nodejs.gc_duration", "nodejs_gc_duration_seconds", {}],
  ];
  for (const [name, metric, labels] of cases)
    it(`finds ${name}`, () => {
      const described = describe(name);
      assert.equal(described?.metric, metric);
      assert.deepEqual(described?.labels, labels);
    });

  it("finds nothing for an unknown name", () =>
    assert.equal(describe("ratelimit.service.unheard_of"), undefined));
});
