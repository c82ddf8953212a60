import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scaled } from "../../../tools/time-scale.ts";
import { descriptor, GrpcCaller, request } from "./grpc-caller.ts";
import { type CollectedSpan, httpCollector } from "./observe/collector.ts";
import { grpcReservations, httpReservations } from "./reservation-caller.ts";
import { MemcachedServer } from "./servers/memcached.ts";
import { RedisServer } from "./servers/redis.ts";
import { bareEnvironment, startTollgate } from "./tollgate.ts";

const config = {
  "d.yaml": "domain: d\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 1 }\n",
};
const command = fileURLToPath(new URL("../bin/tollgate.mjs", import.meta.url));

for (const workers of ["1", "2"]) {
  test(`with WORKERS=${workers} the spans of the client, the server and the decision form one trace`, {
    timeout: scaled(60_000),
  }, async () => {
    const collector = await httpCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const tollgate = await startTollgate({
      config,
      env: { ...env, TRACING_ENABLED: "true", WORKERS: workers, TRACING_SERVICE_NAMESPACE: "n" },
    });
    try {
      const args = [
        "client",
        "-dial_string",
        tollgate.grpc,
        "-domain",
        "d",
        "-descriptors",
        "k=v",
        "-otlp-protocol",
        "http",
      ];
      const client = spawn(process.execPath, [command, ...args], {
        env: { ...bareEnvironment, ...env },
        stdio: "ignore",
      });
      assert.deepEqual(await once(client, "close"), [0, null]);
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const body = JSON.stringify({ domain: "d", descriptors: [{ entries: [{ key: "k", value: "v" }] }] });
      const ask = (text: string) =>
        fetch(`http://${tollgate.http}/json`, { method: "POST", body: text, headers: { traceparent } });
      assert.equal((await ask(body)).status, 429);
      assert.equal((await ask("{")).status, 400);
    } finally {
      assert.equal((await tollgate.stop()).code, 0);
    }
    const { spans } = collector;
    await collector.close();
    const named = (name: string, kind: number) =>
      spans.filter((span) => span.name === name && span.kind === kind);
    const method = "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
    const [asked] = named(method, 3);
    const [served] = named(method, 2);
    const executions = named("ShouldRateLimit Execution", 1);
    assert.equal(executions.length, 2);
    assert.equal(served?.traceId, asked?.traceId);
    assert.equal(served?.parentSpanId, asked?.spanId);
    assert.equal(asked?.resource["service.name"], "RateLimitClient");
    assert.equal(served?.resource["service.name"], "RateLimit");
    assert.equal(served?.resource["service.namespace"], "n");
    const within = (span: CollectedSpan) =>
      executions.find(({ parentSpanId }) => parentSpanId === span.spanId);
    assert.equal(within(served!)?.attributes.domain, "d");
    assert.equal(Number(within(served!)?.attributes["descriptor count"]), 1);
    const json = named("POST /json", 2);
    assert.deepEqual(
      json.map(({ traceId }) => traceId),
      Array(2).fill("0af7651916cd43dd8448eb211c80319c"),
    );
    assert.deepEqual(json.map(({ status }) => status.code).sort(), [0, 2]);
    assert.equal(
      within(json.find(({ status }) => status.code === 0)!)?.attributes["overall code"],
      "OVER_LIMIT",
    );
    const [remaining, ...others] = named("NewJsonHandler Remaining Execution", 1);
    assert.equal(others.length, 0);
    assert.equal(remaining?.parentSpanId, json.find(({ status }) => status.code === 0)?.spanId);
    assert.match(String(remaining?.attributes.response), /^\{"overallCode":"OVER_LIMIT","statuses":\[/);
  });
}

for (const [variable, open, name] of [
  ["REDIS_URL", () => RedisServer.start(), "Redis Pipeline Execution"],
  ["KVSTORE_URL", () => RedisServer.start(), "KVStore Pipeline Execution"],
  ["MEMCACHE_HOST_PORT", () => MemcachedServer.start(), "Memcached Fetch Execution"],
  ["OBJCACHE_HOST_PORT", () => MemcachedServer.start(), "ObjCache Fetch Execution"],
] as const)
  test(`${variable}: the span of a round trip is "${name}"`, async (t) => {
    const store = await open();
    t.after(() => store.stop());
    const collector = await httpCollector();
    t.after(() => collector.close());
    const tollgate = await startTollgate({
      config,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        TRACING_ENABLED: "true",
        BACKEND_TYPE: variable.includes("HOST_PORT") ? "memcache" : "",
        [variable]: store.url,
      },
    });
    const body = JSON.stringify({ domain: "d", descriptors: [{ entries: [{ key: "k", value: "v" }] }] });
    await fetch(`http://${tollgate.http}/json`, { method: "POST", body });
    await tollgate.stop();
    assert.deepEqual(
      [...new Set(collector.spans.filter(({ kind }) => kind === 3).map((span) => span.name))],
      [name],
    );
  });

test("the calls of the reservation service are traces from the server to the store", {
  timeout: scaled(60_000),
}, async (t) => {
  const store = await RedisServer.start();
  t.after(() => store.stop());
  const collector = await httpCollector();
  t.after(() => collector.close());
  const limits =
    "domain: llm\ndescriptors:\n  - key: k\n    rate_limit: { unit: day, requests_per_unit: 40 }\n";
  const tollgate = await startTollgate({
    config: { "llm.yaml": limits },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRACING_ENABLED: "true",
      BACKEND_TYPE: "",
      KVSTORE_URL: store.url,
    },
  });
  const grpc = grpcReservations(tollgate.grpc);
  const callers = { grpc, http: httpReservations(tollgate.http) };
  try {
    for (const [value, caller] of Object.entries(callers)) {
      const target = `k=${value}`;
      assert.equal(await caller.check(target), "OK 40");
      const { id } = await caller.reserve(target, 10);
      assert.equal(await caller.commit(target, id, 30), true);
      assert.equal(await caller.report(target, 20), "OK 0");
      assert.equal((await caller.reserve(target, 10)).code, "OVER_LIMIT");
      await assert.rejects(caller.reserve(target, 0));
    }
  } finally {
    grpc.close();
    assert.equal((await tollgate.stop()).code, 0);
  }
  const { spans } = collector;
  const childOf = (span: CollectedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  const shown = spans
    .filter(({ kind }) => kind === 2)
    .map((server) => {
      const [execution, ...others] = childOf(server).filter(({ kind }) => kind === 1);
      assert.equal(others.length, 0);
      const { attributes } = server;
      const status = attributes["rpc.grpc.status_code"] ?? attributes["http.response.status_code"];
      const { domain, "descriptor count": descriptors, ...answer } = execution?.attributes ?? {};
      assert.deepEqual([domain, Number(descriptors)], ["llm", 1]);
      const trips = spans.filter(({ links }) => links.some(({ spanId }) => spanId === server.spanId));
      const result = Object.values(answer).join(" ");
      return `${server.name}: ${status} | ${execution?.name}: ${result} | ${trips.map(({ name }) => name).join()}`;
    });
  const trip = "KVStore Pipeline Execution";
  const service = "kuadrant.service.ratelimit.v1.RateLimitService";
  assert.deepEqual(
    shown.sort(),
    [
      `${service}/CheckRateLimit: 0 | CheckRateLimit Execution: OK | ${trip}`,
      `${service}/Reserve: 0 | Reserve Execution: OK 10 | ${trip}`,
      `${service}/Commit: 0 | Commit Execution: true | ${trip}`,
      `${service}/Report: 0 | Report Execution: OK | ${trip}`,
      `${service}/Reserve: 0 | Reserve Execution: OVER_LIMIT 0 | ${trip}`,
      `${service}/Reserve: 3 | Reserve Execution:  | `,
      `POST /v1/check: 200 | CheckRateLimit Execution: OK | ${trip}`,
      `POST /v1/reserve: 200 | Reserve Execution: OK 10 | ${trip}`,
      `POST /v1/commit: 200 | Commit Execution: true | ${trip}`,
      `POST /v1/report: 200 | Report Execution: OK | ${trip}`,
      `POST /v1/reserve: 429 | Reserve Execution: OVER_LIMIT 0 | ${trip}`,
      `POST /v1/reserve: 400 | Reserve Execution:  | `,
    ].sort(),
  );
});

test("concurrent traced calls of one connection get their own responses", {
  timeout: scaled(60_000),
}, async () => {
  const collector = await httpCollector();
  const limits = Array.from({ length: 50 }, (_, index) => index + 1);
  const rules = limits.map(
    (limit) => `  - { key: k, value: "${limit}", rate_limit: { unit: day, requests_per_unit: ${limit} } }\n`,
  );
  const tollgate = await startTollgate({
    config: { "d.yaml": `domain: d\ndescriptors:\n${rules.join("")}` },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACING_ENABLED: "true", WORKERS: "1" },
  });
  const caller = new GrpcCaller(tollgate.grpc);
  try {
    const shown = await Promise.all(
      limits.map(async (limit) => {
        const { statuses } = await caller.ask(request("d", descriptor(`k=${limit}`)), scaled(10_000));
        return statuses[0]?.currentLimit?.requestsPerUnit;
      }),
    );
    assert.deepEqual(shown, limits);
  } finally {
    caller.close();
    assert.equal((await tollgate.stop()).code, 0);
    await collector.close();
  }
});
