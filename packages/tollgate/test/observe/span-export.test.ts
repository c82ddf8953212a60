import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { afterEach, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { scaled } from "../../../../tools/time-scale.ts";
import { createLogger, type Logger } from "../../src/observe/log.ts";
import { startTracing } from "../../src/observe/tracing/start-tracing.ts";
import { type HeaderReader, noTracing, type Tracing } from "../../src/observe/tracing/tracing.ts";
import { type CollectedSpan, type Collector, grpcCollector, httpCollector } from "./collector.ts";

const lines: string[] = [];
const log: Logger = createLogger({
  writer: { dropped: 0, write: (line) => void lines.push(line), flush: async () => {} },
});
const method = "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
const none: HeaderReader = () => undefined;
const reading =
  (headers: Readonly<Record<string, string>>): HeaderReader =>
  (name) =>
    headers[name];

const defaults = {
  protocol: "http" as const,
  serviceName: "RateLimit",
  serviceNamespace: "",
  serviceInstanceId: "",
  samplingRate: 1,
  log,
};

let kept: NodeJS.ProcessEnv;
beforeEach(() => {
  kept = { ...process.env };
  lines.length = 0;
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
  Object.assign(process.env, kept);
});

async function collected(
  options: Partial<Parameters<typeof startTracing>[0]>,
  use: (tracing: Tracing) => void,
  environment: Readonly<Record<string, string>> = {},
): Promise<Collector> {
  const collector = await (options.protocol === "grpc" ? grpcCollector() : httpCollector());
  Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment });
  const tracing = await startTracing({ ...defaults, ...options });
  use(tracing);
  await tracing.close(10_000);
  await collector.close();
  return collector;
}

function called(tracing: Tracing, headers: HeaderReader): void {
  tracing.startCall(method, headers, {})?.end();
}

function byName(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, name);
  return found[0]!;
}

describe("tracing", () => {
  for (const protocol of ["http", "grpc"] as const)
    it(`exports the server span, the execution and each round trip over OTLP/${protocol} (TRACING_EXPORTER_PROTOCOL)`, async () => {
      const { spans } = await collected({ protocol }, (tracing) => {
        assert.equal(tracing.enabled, true);
        const one = tracing.startCall(method, none, { "rpc.system": "grpc" })!;
        const two = tracing.startCall("POST /json", none, {})!;
        const execution = one.child("ShouldRateLimit Execution", { domain: "d", "descriptors length": 2 });
        const trip = tracing.startRoundTrip("KVStore Pipeline Execution", [one, two], {
          "pipeline length": 3,
        })!;
        trip.end();
        execution.end();
        one.set({ "rpc.grpc.status_code": 14 });
        one.end("the store is away");
        two.end();
      });
      assert.equal(spans.length, 4);
      const server = byName(spans, method);
      const other = byName(spans, "POST /json");
      const execution = byName(spans, "ShouldRateLimit Execution");
      const trip = byName(spans, "KVStore Pipeline Execution");
      assert.equal(server.kind, 2);
      assert.equal(server.parentSpanId, "");
      assert.deepEqual(server.attributes, { "rpc.system": "grpc", "rpc.grpc.status_code": 14 });
      assert.deepEqual(server.status, { code: 2, message: "the store is away" });
      assert.equal(other.status.code, 0);
      assert.deepEqual(execution.attributes, { domain: "d", "descriptors length": 2 });
      assert.deepEqual([execution.traceId, execution.parentSpanId], [server.traceId, server.spanId]);
      assert.deepEqual([trip.traceId, trip.parentSpanId], [server.traceId, server.spanId]);
      assert.deepEqual(trip.attributes, { "pipeline length": 3 });
      assert.deepEqual(trip.links, [
        { traceId: server.traceId, spanId: server.spanId },
        { traceId: other.traceId, spanId: other.spanId },
      ]);
      for (const span of spans) assert.ok(span.durationNanos >= 0n);
    });

  it("names the service as configured (TRACING_SERVICE_*), in preference to the environment", async () => {
    const options = { serviceName: "gate", serviceNamespace: "edge", serviceInstanceId: "one" };
    const environment = {
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=prod,service.namespace=other",
    };
    const { spans } = await collected(options, (tracing) => called(tracing, none), environment);
    const { resource } = spans[0]!;
    assert.equal(resource["service.name"], "gate");
    assert.equal(resource["service.namespace"], "edge");
    assert.equal(resource["service.instance.id"], "one");
    assert.equal(resource["deployment.environment.name"], "prod");
  });

  it("gives each process its own instance id", async () => {
    const { spans } = await collected({}, (tracing) => called(tracing, none));
    assert.match(
      String(spans[0]!.resource["service.instance.id"]),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.equal("service.namespace" in spans[0]!.resource, false);
  });

  for (const protocol of ["http", "grpc"] as const)
    it(`obeys the standard OTEL_EXPORTER_OTLP_* settings over ${protocol}`, async () => {
      const environment = {
        OTEL_EXPORTER_OTLP_HEADERS: "x-team=edge",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      };
      const { spans, headers } = await collected(
        { protocol },
        (tracing) => called(tracing, none),
        environment,
      );
      assert.equal(spans.length, 1);
      assert.equal(headers[0]!["x-team"], "edge");
      if (protocol === "http") assert.equal(headers[0]!["content-encoding"], "gzip");
    });

  const traceId = "463ac35c9f6413ad48485a3953bb6124";
  const spanId = "a2fb4a1d1a96d312";
  const propagated: readonly [what: string, headers: Record<string, string>, parent: string | undefined][] = [
    ["W3C", { traceparent: `00-${traceId}-${spanId}-01` }, spanId],
    ["B3 in one header", { b3: `${traceId}-${spanId}-1` }, spanId],
    ["B3 in one header with debug", { b3: `${traceId}-${spanId}-d` }, spanId],
    ["B3 in many headers", { "x-b3-traceid": traceId, "x-b3-spanid": spanId, "x-b3-sampled": "1" }, spanId],
    [
      "both, of which W3C wins",
      { traceparent: `00-${traceId}-${spanId}-01`, b3: `${"1".repeat(32)}-${"2".repeat(16)}-1` },
      spanId,
    ],
    ["W3C that is not recorded", { traceparent: `00-${traceId}-${spanId}-00` }, undefined],
    ["B3 that is not recorded", { b3: `${traceId}-${spanId}-0` }, undefined],
    ["B3 that denies without a trace", { b3: "0" }, undefined],
    ["B3 in many headers that denies", { "x-b3-sampled": "0" }, undefined],
    ["a broken header", { traceparent: "00-nonsense" }, ""],
  ];
  for (const [what, headers, parent] of propagated)
    it(`follows the sampling decision of its caller: ${what}`, async () => {
      const { spans } = await collected({}, (tracing) => called(tracing, reading(headers)));
      assert.equal(spans.length, parent === undefined ? 0 : 1);
      if (parent === undefined) return;
      assert.equal(spans[0]!.parentSpanId, parent);
      assert.equal(spans[0]!.traceId === traceId, parent === spanId);
    });

  it("samples before it creates spans (TRACING_SAMPLING_RATE)", async () => {
    const off = await collected({ samplingRate: 0 }, (tracing) => {
      for (let i = 0; i < 100; i++) assert.equal(tracing.startCall(method, none, {}), undefined);
      assert.equal(tracing.startClientCall(method, {}), undefined);
      assert.equal(tracing.startRoundTrip("trip", [], {}), undefined);
      // The decision of a recording caller applies to this part of its trace too.
      called(tracing, reading({ traceparent: `00-${traceId}-${spanId}-01` }));
    });
    assert.equal(off.spans.length, 1);
    const some = await collected({ samplingRate: 0.5 }, (tracing) => {
      for (let i = 0; i < 1000; i++) called(tracing, none);
    });
    assert.ok(some.spans.length > 350 && some.spans.length < 650, `${some.spans.length} of 1000`);
  });

  it("cuts very long texts of a caller", async () => {
    const { spans } = await collected({}, (tracing) => {
      const call = tracing.startCall(method, none, { "rpc.system": "g".repeat(5000) })!;
      call.child("ShouldRateLimit Execution", { domain: "d".repeat(1_000_000) }).end();
      call.end();
    });
    assert.equal(byName(spans, method).attributes["rpc.system"], "g".repeat(1024));
    assert.equal(byName(spans, "ShouldRateLimit Execution").attributes.domain, "d".repeat(1024));
  });

  it("carries a client's trace in W3C and B3 headers", async () => {
    let headers: Readonly<Record<string, string>> = {};
    const { spans } = await collected({ serviceName: "RateLimitClient" }, (tracing) => {
      const call = tracing.startClientCall(method, { "rpc.system": "grpc" })!;
      headers = call.headers;
      const answered = tracing.startCall(method, reading(headers), {})!;
      answered.end();
      call.end();
    });
    const [client, server] = [3, 2].map((kind) => spans.find((span) => span.kind === kind)!);
    assert.equal(headers.traceparent, `00-${client!.traceId}-${client!.spanId}-01`);
    assert.equal(headers.b3, `${client!.traceId}-${client!.spanId}-1`);
    assert.deepEqual([server!.traceId, server!.parentSpanId], [client!.traceId, client!.spanId]);
  });

  it("works without a collector, logs that at most once, and closes in time", async () => {
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9";
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = "200";
    const tracing = await startTracing(defaults);
    for (let i = 0; i < 5000; i++) called(tracing, none);
    const started = performance.now();
    await tracing.close(3000);
    assert.ok(performance.now() - started < scaled(10_000));
    assert.ok(lines.length <= 1, lines.join());
  });
});

describe("disabled tracing", () => {
  it("returns no spans", async () => {
    assert.equal(noTracing.enabled, false);
    assert.equal(noTracing.startCall(method, none, {}), undefined);
    assert.equal(noTracing.startRoundTrip("trip", [], {}), undefined);
    assert.equal(noTracing.startClientCall(method, {}), undefined);
    await noTracing.close(1);
  });

  it("loads nothing of OpenTelemetry, unlike enabled tracing", async () => {
    const moduleOf = (name: string): string =>
      JSON.stringify(new URL(`../../src/observe/tracing/${name}`, import.meta.url).href);
    const script = `
      import { registerHooks } from "node:module";
      const seen = [];
      registerHooks({ load: (url, context, next) => { seen.push(url); return next(url, context); } });
      const { noTracing } = await import(${moduleOf("tracing.ts")});
      const { startTracing } = await import(${moduleOf("start-tracing.ts")});
      noTracing.startCall("x", () => undefined, {});
      const count = () => seen.filter((url) => url.includes("@opentelemetry")).length;
      const off = count();
      const on = await startTracing({ protocol: "http", serviceName: "s", serviceNamespace: "", serviceInstanceId: "", samplingRate: 0, log: {} });
      await on.close(1000);
      console.log(JSON.stringify([off, count() > 10, seen.length > 0]));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    assert.deepEqual(JSON.parse(stdout), [0, true, true]);
  });
});
