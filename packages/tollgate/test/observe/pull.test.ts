import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { Counter, Gauge, Histogram, Registry as OracleRegistry } from "prom-client";
import { createLogger, type Logger } from "../../src/observe/log.ts";
import { createStatistics, type Registry } from "../../src/observe/registry.ts";
import { parseAddress } from "../../src/observe/sinks/pull/metrics-listener.ts";
import { type SinksOptions, startSinks } from "../../src/observe/sinks/start.ts";
import { responseTimeBounds } from "../../src/observe/timer.ts";
import { parseExposition, type ScrapedFamily, sampleOf } from "./exposition-parser.ts";

const warnings: string[] = [];
const log: Logger = createLogger({
  writer: { dropped: 0, write: (line) => void warnings.push(line), flush: async () => {} },
});
const openmetrics = { Accept: "application/openmetrics-text; version=1.0.0" };

interface Scraped {
  readonly text: string;
  readonly families: Map<string, ScrapedFamily>;
  readonly type: string;
}

async function scraping<T>(
  registry: Registry,
  pull: Partial<NonNullable<SinksOptions["pull"]>>,
  use: (scrape: (headers?: Record<string, string>) => Promise<Scraped>, url: string) => Promise<T>,
): Promise<T> {
  const sinks = await startSinks(registry, log, {
    flushInterval: 60_000,
    pull: { address: "127.0.0.1:0", path: "/metrics", ...pull },
  });
  const url = `http://${sinks.pullAddress}${pull.path ?? "/metrics"}`;
  try {
    return await use(async (headers = {}) => {
      const response = await fetch(url, { headers });
      assert.equal(response.status, 200);
      const text = await response.text();
      const type = response.headers.get("content-type") ?? "";
      return { text, type, families: parseExposition(text, type.startsWith("application/openmetrics-text")) };
    }, url);
  } finally {
    await sinks.stop(1000);
  }
}

function fill(registry: Registry): void {
  const one = registry.rule({ domain: "shop.example.com", levels: ["path_/cart"] }, false);
  one.totalHits = 10;
  one.overLimit = 1;
  one.nearLimit = 2;
  one.withinLimit = 9;
  one.shadowMode = 3;
  one.overLimitWithLocalCache = 4;
  one.totalNegativeHits = 11;
  registry.rule({ domain: "shop.example.com", levels: ["a", "b.c", 'd"\\'] }, false).totalHits = 7;
  registry.counter("ratelimit.service.call.should_rate_limit.kvstore_error").value = 5;
  registry.counter("ratelimit_server.ShouldRateLimit.total_requests").value = 12;
  registry.counter("ratelimit.service.config_load_success").value = 1;
  registry.counter("ratelimit.service.config_load_error").value = 2;
  registry.counter("ratelimit.service.global_shadow_mode").value = 6;
  registry.counter("ratelimit.objcache.multiget.__code=success").value = 8;
  registry.domainNotFound("nowhere").value = 9;
  registry.gauge("ratelimit.kvstore_pool.cx_active", () => 4);
}

describe("the pull sink under the default mapping", () => {
  for (const headers of [{}, openmetrics])
    it(`has the contract's names and labels (${"Accept" in headers ? "OpenMetrics" : "text"})`, async () => {
      const registry = createStatistics();
      fill(registry);
      await scraping(registry, {}, async (scrape) => {
        const { families } = await scrape(headers);
        const labels = { domain: "shop.example.com", key1: "path_/cart" };
        const rule = "ratelimit_service_rate_limit_";
        const cases: readonly [string, Record<string, string>, number][] = [
          [`${rule}total_hits`, labels, 10],
          [`${rule}over_limit`, labels, 1],
          [`${rule}near_limit`, labels, 2],
          [`${rule}within_limit`, labels, 9],
          [`${rule}shadow_mode`, labels, 3],
          [`${rule}over_limit_with_local_cache`, labels, 4],
          [`${rule}total_negative_hits`, labels, 11],
          [`${rule}total_hits`, { domain: "shop.example.com", key1: "a", key2: 'b.c.d"\\' }, 7],
          [`${rule}domain_not_found`, { domain: "nowhere" }, 9],
          ["ratelimit_service_should_rate_limit_error", { err_type: "kvstore_error" }, 5],
          ["ratelimit_service_total_requests", { grpc_method: "ShouldRateLimit" }, 12],
          ["ratelimit_service_config_load_success", {}, 1],
          ["ratelimit_service_config_load_error", {}, 2],
          ["ratelimit_service_global_shadow_mode", {}, 6],
          ["ratelimit_objcache_multiget", { code: "success" }, 8],
          ["ratelimit_kvstore_pool_cx_active", {}, 4],
        ];
        for (const [name, wanted, value] of cases)
          assert.equal(sampleOf(families, name, wanted), value, name);
        const type = families.get(`${rule}total_hits`)!.type;
        assert.equal(type, "Accept" in headers ? "unknown" : "counter");
        assert.equal(families.get("ratelimit_kvstore_pool_cx_active")!.type, "gauge");
        assert.ok([...families.values()].every(({ help }) => help !== ""));
      });
    });

  it("answers in the requested format", async () => {
    await scraping(createStatistics(), {}, async (scrape) => {
      assert.equal((await scrape()).type, "text/plain; version=0.0.4; charset=utf-8");
      assert.equal(
        (await scrape(openmetrics)).type,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
      );
    });
  });

  it("agrees with prom-client about the same data", async () => {
    const registry = createStatistics();
    fill(registry);
    const timer = registry.timer("ratelimit_server.ShouldRateLimit.response_time");
    const oracle = new OracleRegistry();
    const observed = new Histogram({
      name: "ratelimit_service_response_time_seconds",
      help: "h",
      labelNames: ["grpc_method"],
      buckets: [...responseTimeBounds],
      registers: [oracle],
    });
    const hits = new Counter({
      name: "ratelimit_service_rate_limit_total_hits",
      help: "h",
      labelNames: ["domain", "key1", "key2"],
      registers: [oracle],
    });
    hits.inc({ domain: "shop.example.com", key1: "path_/cart" }, 10);
    hits.inc({ domain: "shop.example.com", key1: "a", key2: 'b.c.d"\\' }, 7);
    new Gauge({ name: "ratelimit_kvstore_pool_cx_active", help: "h", registers: [oracle] }).set(4);
    for (let i = 0; i < 500; i++) {
      const milliseconds = 2 ** (i / 40 - 6);
      observed.observe({ grpc_method: "ShouldRateLimit" }, milliseconds * 0.001);
    }
    await scraping(registry, {}, async (scrape) => {
      for (let i = 0; i < 500; i++) timer.record(2 ** (i / 40 - 6));
      const ours = (await scrape()).families;
      for (const [name, family] of parseExposition((await oracle.metrics()).replace(/\n+/g, "\n"))) {
        const mine = ours.get(name)!;
        assert.equal(mine.type, family.type);
        assert.deepEqual(canonical(mine), canonical(family));
      }
    });
  });

  it("resolves response times below a millisecond, in seconds", async () => {
    const registry = createStatistics();
    const timer = registry.timer("ratelimit_server.ShouldRateLimit.response_time");
    await scraping(registry, {}, async (scrape) => {
      timer.record(0.04);
      timer.record(0.2);
      const { families } = await scrape();
      const name = "ratelimit_service_response_time_seconds";
      const labels = { grpc_method: "ShouldRateLimit" };
      assert.equal(sampleOf(families, `${name}_bucket`, { ...labels, le: "0.000025" }), 0);
      assert.equal(sampleOf(families, `${name}_bucket`, { ...labels, le: "0.00005" }), 1);
      assert.equal(sampleOf(families, `${name}_bucket`, { ...labels, le: "0.00025" }), 2);
      assert.ok(Math.abs(sampleOf(families, `${name}_sum`, labels)! - 0.00024) < 1e-12);
    });
  });

  it("keeps response times in milliseconds with PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS", async () => {
    const registry = createStatistics();
    await scraping(registry, { responseTimeAsMilliseconds: true }, async (scrape) => {
      registry.timer("ratelimit_server.ShouldRateLimit.response_time").record(3);
      const { families } = await scrape();
      const name = "ratelimit_service_response_time_seconds";
      const labels = { grpc_method: "ShouldRateLimit" };
      assert.equal(sampleOf(families, `${name}_sum`, labels), 3);
      assert.equal(sampleOf(families, `${name}_bucket`, { ...labels, le: "2.5" }), 0);
      assert.equal(sampleOf(families, `${name}_bucket`, { ...labels, le: "5" }), 1);
    });
  });

  it("shows live values, and series created after the first scrape", async () => {
    const registry = createStatistics();
    await scraping(registry, {}, async (scrape) => {
      await scrape();
      const rule = registry.rule({ domain: "d", levels: ["late"] }, true);
      rule.totalHits = 1;
      const name = "ratelimit_service_rate_limit_total_hits";
      const labels = { domain: "d", key1: "late" };
      assert.equal(sampleOf((await scrape()).families, name, labels), 1);
      rule.totalHits = 2;
      assert.equal(sampleOf((await scrape()).families, name, labels), 2);
    });
  });

  it("adds EXTRA_TAGS to every series, but never replaces a label", async () => {
    const registry = createStatistics({ tags: { "my-env": "prod 1.2", domain: "taken" } });
    fill(registry);
    await scraping(registry, {}, async (scrape) => {
      const { families } = await scrape();
      const name = "ratelimit_service_rate_limit_domain_not_found";
      assert.equal(sampleOf(families, name, { domain: "nowhere", my_env: "prod 1.2" }), 9);
      const load = "ratelimit_service_config_load_success";
      assert.equal(sampleOf(families, load, { domain: "taken", my_env: "prod 1.2" }), 1);
    });
  });

  it("uses the name redis for a store configured with REDIS_*", async () => {
    const registry = createStatistics({ kvstoreName: "redis", objcacheName: "memcache" });
    fill(registry);
    await scraping(registry, {}, async (scrape) => {
      const { families } = await scrape();
      assert.equal(sampleOf(families, "ratelimit_redis_pool_cx_active"), 4);
      assert.equal(sampleOf(families, "ratelimit_memcache_multiget", { code: "success" }), 8);
      const error = "ratelimit_service_should_rate_limit_error";
      assert.equal(sampleOf(families, error, { err_type: "redis_error" }), 5);
    });
  });

  it("has statistics of the process, the event loop and garbage collection", async () => {
    await scraping(createStatistics(), {}, async (scrape) => {
      const { families } = await scrape();
      for (const name of [
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "nodejs_heap_size_used_bytes",
        "nodejs_eventloop_lag_p99_seconds",
      ])
        assert.ok(sampleOf(families, name) !== undefined, name);
      assert.equal(families.get("process_cpu_seconds_total")!.type, "counter");
      assert.equal(families.get("nodejs_gc_duration_seconds")!.type, "histogram");
    });
  });

  it("is valid in both formats, whatever keys requests have", async () => {
    const part = fc.string({ unit: "binary", maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(part, { minLength: 1, maxLength: 4 })), async (keys) => {
        const registry = createStatistics({ tags: { 'a"b': 'c"\\\nd' } });
        for (const [domain, ...levels] of keys) registry.rule({ domain: domain!, levels }, true).totalHits++;
        await scraping(registry, {}, async (scrape) => {
          for (const headers of [{}, openmetrics]) {
            const { families } = await scrape(headers);
            const family = families.get("ratelimit_service_rate_limit_total_hits");
            const sum = family?.samples.reduce((total, { value }) => total + value, 0) ?? 0;
            assert.equal(sum, keys.length);
          }
        });
      }),
      { numRuns: 15 },
    );
  });
});

function canonical(family: ScrapedFamily): readonly string[] {
  return family.samples
    .map(({ name, labels, value }) => {
      const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
      return `${name} ${JSON.stringify(sorted)} ${Number(value.toPrecision(12))}`;
    })
    .sort();
}

describe("the pull sink with a mapping file", () => {
  async function mapped<T>(
    yaml: string,
    use: (registry: Registry, scrape: () => Promise<Scraped>) => Promise<T>,
  ): Promise<T> {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-mapper-"));
    const mapperFile = join(folder, "mapper.yaml");
    writeFileSync(mapperFile, yaml);
    try {
      const registry = createStatistics({ tags: { env: "prod" } });
      return await scraping(registry, { mapperFile }, (scrape) => use(registry, scrape));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it("keeps the names of the process metrics that no rule matches", async () => {
    const yaml = 'mappings: [{ match: "ratelimit.nodejs.gc", name: collections }]';
    await mapped(yaml, async (registry, scrape) => {
      registry.gauge("ratelimit.process.resident_memory_bytes", () => 5);
      registry.gauge("ratelimit.nodejs.gc", () => 6);
      registry.gauge("ratelimit.other.figure", () => 7);
      const { families } = await scrape();
      const names = [...families.keys()];
      for (const name of ["process_resident_memory_bytes", "collections", "ratelimit_other_figure"])
        assert.ok(names.includes(name), `${name}: ${names}`);
      assert.ok(!names.includes("ratelimit_process_resident_memory_bytes"));
    });
  });

  it("maps counters, gauges, histograms and summaries, scales and drops", async () => {
    const yaml = `
mappings:
- match: "ratelimit.service.rate_limit.*.*.total_hits"
  name: hits
  labels: { domain: "$1" }
- { match: "ratelimit.kvstore_pool.cx_active", name: connections, scale: 10 }
- match: "ratelimit_server.*.response_time"
  name: answered_seconds
  observer_type: histogram
  histogram_options: { buckets: [0.001, 0.01] }
  scale: 0.001
  labels: { method: "$1" }
- { match: "other.time", name: other_ms, observer_type: summary, quantiles: [{ quantile: 0.5, error: 0.05 }] }
- { match: "ratelimit\\\\.(process|nodejs|statistics)\\\\.", match_type: regex, action: drop }
- { match: "rate_limit", match_type: regex, action: drop }
`;
    await mapped(yaml, async (registry, scrape) => {
      registry.rule({ domain: "d", levels: ["a"] }, false).totalHits = 3;
      registry.rule({ domain: "d", levels: ["b"] }, false).totalHits = 4;
      registry.gauge("ratelimit.kvstore_pool.cx_active", () => 4);
      registry.timer("ratelimit_server.ShouldRateLimit.response_time").record(5);
      for (const value of [1, 2, 3]) registry.timer("other.time").record(value);
      const { text } = await scrape();
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      assert.deepEqual(lines, [
        'answered_seconds_bucket{method="ShouldRateLimit",env="prod",le="0.001"} 0',
        'answered_seconds_bucket{method="ShouldRateLimit",env="prod",le="0.01"} 1',
        'answered_seconds_bucket{method="ShouldRateLimit",env="prod",le="+Inf"} 1',
        'answered_seconds_sum{method="ShouldRateLimit",env="prod"} 0.005',
        'answered_seconds_count{method="ShouldRateLimit",env="prod"} 1',
        'connections{env="prod"} 40',
        'hits{domain="d",env="prod"} 7',
        'other_ms{env="prod",quantile="0.5"} 2',
        'other_ms_sum{env="prod"} 6',
        'other_ms_count{env="prod"} 3',
      ]);
    });
  });

  it("hides series that would give a metric a second type, and logs it once", async () => {
    warnings.length = 0;
    const yaml = "mappings:\n- { match: 'a.*', name: a }\n";
    await mapped(yaml, async (registry, scrape) => {
      registry.counter("a.counter").value = 1;
      registry.gauge("a.gauge", () => 2);
      registry.gauge("a.other", () => 2);
      const { families } = await scrape();
      assert.equal(families.get("a")!.type, "counter");
      assert.equal(sampleOf(families, "a", { env: "prod" }), 1);
      assert.equal(
        sampleOf((await scrape()).families, "ratelimit_statistics_pull_dropped", { env: "prod" }),
        2,
      );
    });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /metric a is a counter: series mapped to it as a gauge are not shown/);
  });

  it("prevents startup if the file is invalid or missing", async () => {
    await assert.rejects(
      mapped("mappings: [{}]", async () => {}),
      { name: "SinkConfigError", message: /mapping 1 has no match/ },
    );
    const pull = { address: "127.0.0.1:0", path: "/metrics", mapperFile: "/nowhere/mapper.yaml" };
    await assert.rejects(startSinks(createStatistics(), log, { flushInterval: 1000, pull }), {
      name: "SinkConfigError",
      message: /^PULLSTATS_MAPPER_YAML: \/nowhere\/mapper\.yaml cannot be read/,
    });
  });

  it("hides a series that has not changed for its ttl, until it changes", async () => {
    await mapped("mappings:\n- { match: a, name: a, ttl: 1ms }", async (registry, scrape) => {
      const counter = registry.counter("a");
      counter.value = 1;
      assert.equal(sampleOf((await scrape()).families, "a", { env: "prod" }), 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(sampleOf((await scrape()).families, "a", { env: "prod" }), undefined);
      counter.value = 2;
      assert.equal(sampleOf((await scrape()).families, "a", { env: "prod" }), 2);
    });
  });
});

describe("the metrics port", () => {
  it("serves only PULLSTATS_PATH, only for GET and HEAD, and ignores query arguments", async () => {
    await scraping(createStatistics(), { path: "/other" }, async (scrape, url) => {
      await scrape();
      assert.equal((await fetch(`${url}?name[]=x`)).status, 200);
      const head = await fetch(url, { method: "HEAD" });
      assert.deepEqual([head.status, await head.text()], [200, ""]);
      const posted = await fetch(url, { method: "POST", body: "x" });
      assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
      for (const path of ["/", "/metrics", "/debug/pprof/"])
        assert.equal((await fetch(new URL(path, url))).status, 404, path);
    });
  });

  it("keeps serving if a connection cannot be accepted, and logs that once a minute", async () => {
    let server: Server | undefined;
    const seen = (message: unknown): void => {
      server = (message as { server: Server }).server;
    };
    await scraping(createStatistics(), {}, async (scrape) => {
      subscribe("http.server.request.start", seen);
      try {
        await scrape();
      } finally {
        unsubscribe("http.server.request.start", seen);
      }
      for (let i = 0; i < 100; i++) server!.emit("error", new Error("accept EMFILE"));
      await scrape();
      assert.deepEqual(
        warnings.filter((line) => /EMFILE/.test(line)).map((line) => /msg="(.*)"/.exec(line)?.[1]),
        ["metrics listener: cannot accept a connection: accept EMFILE"],
      );
    });
  });

  it("compresses on request", async () => {
    const registry = createStatistics();
    fill(registry);
    await scraping(registry, {}, async (scrape, url) => {
      const plain = (await scrape({ "Accept-Encoding": "identity" })).text;
      const body = await new Promise<Buffer>((resolve, reject) => {
        request(url, { headers: { "Accept-Encoding": "gzip" } }, (response) => {
          assert.equal(response.headers["content-encoding"], "gzip");
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(Buffer.concat(chunks)));
        })
          .on("error", reject)
          .end();
      });
      const families = parseExposition(gunzipSync(body).toString());
      assert.deepEqual([...families.keys()], [...parseExposition(plain).keys()]);
    });
  });

  it("yields to decisions while it prints many series", async () => {
    const registry = createStatistics();
    for (let i = 0; i < 20_000; i++) registry.rule({ domain: "d", levels: [`k${i}`] }, true).totalHits = i;
    await scraping(registry, {}, async (scrape) => {
      let turns = 0;
      let immediate = setImmediate(function count() {
        turns++;
        immediate = setImmediate(count);
      });
      const { families } = await scrape().finally(() => clearImmediate(immediate));
      assert.equal(families.get("ratelimit_service_rate_limit_total_hits")!.samples.length, 20_000);
      assert.ok(turns > 60, `${turns} turns`);
    });
  });

  const addresses: readonly [address: string, host: string | undefined, port: number][] = [
    [":9090", undefined, 9090],
    ["127.0.0.1:0", "127.0.0.1", 0],
    ["localhost:80", "localhost", 80],
    ["[::1]:9090", "::1", 9090],
  ];
  for (const [address, host, port] of addresses)
    it(`reads PULLSTATS_ADDR ${address}`, () => assert.deepEqual(parseAddress(address), { host, port }));
  for (const address of ["9090", "host", "host:", ":99999", "::1:9090", ""])
    it(`refuses PULLSTATS_ADDR "${address}"`, () =>
      assert.throws(() => parseAddress(address), {
        name: "SinkConfigError",
        message: /^PULLSTATS_ADDR is /,
      }));
});
