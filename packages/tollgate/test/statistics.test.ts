import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { scaled } from "../../../tools/time-scale.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { Receiver } from "./observe/receiver.ts";
import { type RunningTollgate, startTollgate } from "./tollgate.ts";

// The settings select the service's sinks. Tests beside each sink show what it sends.

const config = {
  "d.yaml": `
domain: d.example
descriptors:
  - key: k
    rate_limit: { unit: day, requests_per_unit: 5 }
    descriptors:
      - key: n
        detailed_metric: true
        rate_limit: { unit: day, requests_per_unit: 0 }
  - key: dry
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 0 }
`,
};

async function running(
  env: Record<string, string>,
  use: (tollgate: RunningTollgate, caller: GrpcCaller) => Promise<void>,
): Promise<RunningTollgate> {
  const tollgate = await startTollgate({
    config,
    env: { DISABLE_STATS: "", STATS_FLUSH_INTERVAL: "100ms", ...env },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    await use(tollgate, caller);
  } finally {
    caller.close();
    assert.equal((await tollgate.stop()).code, 0, tollgate.log.join("\n"));
  }
  return tollgate;
}

async function calls(caller: GrpcCaller): Promise<void> {
  await caller.ask(request("d.example", descriptor("k=a"), descriptor("k=b,n=1"), descriptor("dry=x")));
  await caller.ask(request("nowhere", descriptor("k=a")));
  await assert.rejects(caller.ask(request("d.example")));
}
const RULE = "ratelimit.service.rate_limit.d.example";

for (const workers of ["1", "2"]) {
  test(`USE_STATSD (the default): pushed over TCP, the last interval at the end, WORKERS=${workers}`, async () => {
    const receiver = await Receiver.stream();
    const env = { STATSD_PORT: String(receiver.port), EXTRA_TAGS: "b:2,a:1", WORKERS: workers };
    await running(env, async (_tollgate, caller) => {
      await calls(caller);
      await receiver.until((lines) => lines.some(({ name }) => name.startsWith(`${RULE}.k.total_hits`)));
      await caller.ask(request("d.example", descriptor("k=a")));
    });
    const tags = ".__a=1.__b=2";
    const totals: [string, number][] = [
      [`${RULE}.k.total_hits`, 2],
      [`${RULE}.k.within_limit`, 2],
      // The placeholder has no flag, so its level is `k`; the detailed one is `n_1`.
      [`${RULE}.k.n_1.over_limit`, 1],
      [`${RULE}.dry.shadow_mode`, 1],
      ["ratelimit.service.rate_limit.nowhere.domain_not_found", 1],
      ["ratelimit.service.call.should_rate_limit.service_error", 1],
      ["ratelimit.service.config_load_success", 1],
      ["ratelimit_server.ShouldRateLimit.total_requests", 4],
    ];
    for (const [name, total] of totals) assert.equal(receiver.total(name + tags), total, name);
    const times = receiver.lines.filter(
      ({ name }) => name === `ratelimit_server.ShouldRateLimit.response_time${tags}`,
    );
    assert.equal(times.length, 4);
    assert.ok(times.every(({ type, value }) => type === "ms" && value >= 0));
    await receiver.close();
  });
}

test("USE_DOG_STATSD: tags and mogrifiers, over UDP, and the push sink is off", async () => {
  const receiver = await Receiver.datagrams();
  const env = {
    USE_DOG_STATSD: "true",
    STATSD_HOST: "127.0.0.1",
    STATSD_PORT: String(receiver.port),
    USE_DOG_STATSD_MOGRIFIERS: "HITS",
    DOG_STATSD_MOGRIFIER_HITS_PATTERN: String.raw`^ratelimit\.service\.rate_limit\.d\.example\.(\w+)\.total_hits$`,
    DOG_STATSD_MOGRIFIER_HITS_NAME: "hits",
    DOG_STATSD_MOGRIFIER_HITS_TAGS: "key:$1",
    EXTRA_TAGS: "a:1",
  };
  await running(env, (_tollgate, caller) => calls(caller));
  const hits = receiver.lines.find(({ name, tags }) => name === "hits" && tags.includes("key:k"));
  assert.deepEqual([hits?.value, hits?.type, [...hits!.tags].sort()], [1, "c", ["a:1", "key:k"]]);
  await receiver.close();
});

test("USE_PROMETHEUS: current values, with labels from the rules, not from split names", async () => {
  const env = { USE_PROMETHEUS: "true", PROMETHEUS_ADDR: "127.0.0.1:0", PROMETHEUS_PATH: "/m", WORKERS: "2" };
  await running(env, async (tollgate, caller) => {
    await calls(caller);
    const address = /on '([^']+)'/.exec(await tollgate.logged(/Listening for metrics/))![1];
    const response = await fetch(`http://${address}/m`);
    const text = await response.text();
    assert.equal(response.status, 200);
    for (const line of [
      'ratelimit_service_rate_limit_total_hits{domain="d.example",key1="k"} 1',
      'ratelimit_service_rate_limit_over_limit{domain="d.example",key1="k",key2="n_1"} 1',
      'ratelimit_service_rate_limit_shadow_mode{domain="d.example",key1="dry"} 1',
      'ratelimit_service_should_rate_limit_error{err_type="service_error"} 1',
      'ratelimit_service_total_requests{grpc_method="ShouldRateLimit"} 3',
      'ratelimit_service_response_time_seconds_count{grpc_method="ShouldRateLimit"} 3',
      "ratelimit_service_config_load_success 1",
      "ratelimit_service_config_load_error 0",
    ]) {
      assert.ok(text.includes(`\n${line}\n`), `${line}\n${text.match(/.*ratelimit_service.*/g)?.join("\n")}`);
    }
    assert.equal((await fetch(`http://${address}/debug/pprof/`)).status, 404);
  });
});

test("USE_STATSD=false and no other sink: JSON lines on standard output", async () => {
  const tollgate = await running({ USE_STATSD: "false" }, (_tollgate, caller) => calls(caller));
  const lines = tollgate.output.map((line) => JSON.parse(line));
  assert.ok(
    lines.some((line) => JSON.stringify(line).includes(`${RULE}.k.total_hits`)),
    tollgate.output.join("\n"),
  );
});

test("DISABLE_STATS turns off every sink, but not /stats", async () => {
  const receiver = await Receiver.stream();
  const env = { DISABLE_STATS: "true", USE_STATSD: "true", STATSD_PORT: String(receiver.port) };
  await running(env, async (tollgate, caller) => {
    await calls(caller);
    const text = await (await fetch(`http://${tollgate.debug}/stats?filter=k.total_hits`)).text();
    assert.equal(text, `${RULE}.k.total_hits: 1\n`);
  });
  assert.equal(receiver.lines.length, 0);
  await receiver.close();
});

test("every rule has its statistics from the start, except those named by a request's values", async () => {
  await running({ DISABLE_STATS: "true" }, async (tollgate) => {
    const text = await (await fetch(`http://${tollgate.debug}/stats?filter=total_hits`)).text();
    assert.equal(text, `${RULE}.dry.total_hits: 0\n${RULE}.k.total_hits: 0\n`);
  });
});

test("an unreachable sink neither affects callers nor delays the exit", async () => {
  await running({ USE_STATSD: "true", STATSD_PORT: "1" }, async (_tollgate, caller) => {
    const started = performance.now();
    for (let call = 0; call < 50; call++) await caller.ask(request("d.example", descriptor("nothing=x")));
    assert.ok(performance.now() - started < scaled(10_000));
  });
});

const wrong: [string, Record<string, string>, RegExp][] = [
  [
    "a bad mapper file",
    { USE_PULLSTATS: "true", PULLSTATS_ADDR: "127.0.0.1:0" },
    /PULLSTATS_MAPPER_YAML: .*mapper\.yaml/,
  ],
  [
    "a bad mogrifier",
    {
      USE_AGENTSTATS: "true",
      AGENTSTATS_MOGRIFIERS: "X",
      AGENTSTATS_MOGRIFIER_X_PATTERN: "(",
      AGENTSTATS_MOGRIFIER_X_NAME: "x",
    },
    /AGENTSTATS_MOGRIFIER_X_PATTERN/,
  ],
];
for (const [name, env, message] of wrong) {
  test(`${name} is a startup error`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "tollgate-mapper-"));
    await writeFile(join(folder, "mapper.yaml"), "mappings:\n- match: 5\n");
    const file = name.includes("mapper") ? { PULLSTATS_MAPPER_YAML: join(folder, "mapper.yaml") } : {};
    const tollgate = await startTollgate({
      config,
      env: { DISABLE_STATS: "", ...env, ...file } as Record<string, string>,
      unopened: true,
    });
    assert.equal((await tollgate.stop("SIGCONT")).code, 1);
    assert.match(tollgate.log.join("\n"), message);
    await rm(folder, { recursive: true });
  });
}

test("LIMIT_RESPONSE_HEADERS_*: the configured names, on gRPC and as HTTP headers of /json", async () => {
  const env = {
    LIMIT_RESPONSE_HEADERS_ENABLED: "true",
    LIMIT_LIMIT_HEADER: "X-Limit",
    DISABLE_STATS: "true",
  };
  await running(env, async (tollgate, caller) => {
    const { responseHeadersToAdd } = await caller.ask(request("d.example", descriptor("k=a")));
    assert.deepEqual(
      responseHeadersToAdd.map(({ key }) => key),
      ["X-Limit", "RateLimit-Remaining", "RateLimit-Reset"],
    );
    const body = JSON.stringify({
      domain: "d.example",
      descriptors: [{ entries: [{ key: "k", value: "a" }] }],
    });
    const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
    assert.equal(response.headers.get("x-limit"), "5");
    assert.equal(response.headers.get("ratelimit-remaining"), "3");
    assert.match(response.headers.get("ratelimit-reset") ?? "", /^\d+$/);
  });
  await running({ ...env, LIMIT_RESPONSE_HEADERS_FORMAT: "draft-10" }, async (tollgate) => {
    const body = JSON.stringify({
      domain: "d.example",
      descriptors: [
        {
          entries: [
            { key: "k", value: "a" },
            { key: "n", value: "1" },
          ],
        },
      ],
    });
    const response = await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("ratelimit-policy"), '"d.example.k.n";q=0;w=86400');
    assert.match(response.headers.get("ratelimit") ?? "", /^"d\.example\.k\.n";r=0;t=\d+$/);
    assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
  });
});
