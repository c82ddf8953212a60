/**
 * The cost of observability: of counting a call, and of flushes, scrapes and pages with 100,000 keys.
 * The same run measures prom-client and a recorded span for comparison.
 */
import { Counter, Histogram } from "prom-client";
import { createLogger } from "../../packages/tollgate/src/observe/log.ts";
import { createStatistics, type Registry } from "../../packages/tollgate/src/observe/registry.ts";
import { Flusher } from "../../packages/tollgate/src/observe/sinks/flusher.ts";
import { defaultMapping } from "../../packages/tollgate/src/observe/sinks/pull/default-mapping.ts";
import { render } from "../../packages/tollgate/src/observe/sinks/pull/exposition.ts";
import { Families } from "../../packages/tollgate/src/observe/sinks/pull/families.ts";
import { PushSink } from "../../packages/tollgate/src/observe/sinks/push.ts";
import { startTracing } from "../../packages/tollgate/src/observe/tracing/start-tracing.ts";
import { noTracing } from "../../packages/tollgate/src/observe/tracing/tracing.ts";

const KEYS = 100_000;
const log = createLogger({ writer: { dropped: 0, write: () => {}, flush: async () => {} } });

export async function main(): Promise<void> {
  hotPath();
  await tracing();
  await manyKeys();
}

function hotPath(): void {
  const registry = createStatistics();
  const rule = registry.rule({ domain: "d", levels: ["key"] }, false);
  const timer = registry.timer("ratelimit_server.ShouldRateLimit.response_time");
  const counter = new Counter({ name: "hits", help: "h", labelNames: ["domain", "key1"], registers: [] });
  const histogram = new Histogram({ name: "time", help: "h", labelNames: ["grpc_method"], registers: [] });
  const values = Array.from({ length: 1000 }, (_, i) => `user_${i}`);
  for (const value of values) registry.rule({ domain: "d", levels: [value] }, true);
  console.log("ns a call");
  row("a counter of a rule", () => {
    rule.totalHits += 1;
  });
  row("prom-client's counter with labels", () => counter.inc({ domain: "d", key1: "key" }));
  row("the statistics of a key from a request", (i) => {
    registry.rule({ domain: "d", levels: [values[i % 1000]!] }, true).totalHits += 1;
  });
  row("a duration", (i) => timer.record((i % 1000) / 100));
  row("prom-client's histogram with labels", (i) =>
    histogram.observe({ grpc_method: "m" }, (i % 1000) / 100_000),
  );
  row("a log line of a disabled level", () => log.debug("nothing"));
}

async function tracing(): Promise<void> {
  const headers = (): undefined => undefined;
  row("a call with tracing disabled", () => {
    if (noTracing.enabled) noTracing.startCall("m", headers, {});
  });
  const options = {
    protocol: "http" as const,
    serviceName: "bench",
    serviceNamespace: "",
    serviceInstanceId: "",
    log,
  };
  const unsampled = await startTracing({ ...options, samplingRate: 0 });
  row("an unsampled call", () => unsampled.startCall("m", headers, {}));
  const sampled = await startTracing({ ...options, samplingRate: 1 });
  row("a recorded call", () => sampled.startCall("m", headers, {})?.end(), 100_000);
  await Promise.all([unsampled.close(1), sampled.close(1)]);
}

async function manyKeys(): Promise<void> {
  const registry = createStatistics({ maxDynamicKeys: KEYS });
  console.log(`\n${KEYS.toLocaleString("en")} keys from requests`);
  await measured("created and counted", async () => {
    for (let i = 0; i < KEYS; i++)
      registry.rule({ domain: "d", levels: [`user_${i}`] }, true).totalHits = i + 1;
  });
  let out = 0;
  const transport = {
    ready: true,
    packetBytes: 65_536,
    send: (text: string) => {
      out += text.length;
    },
    room: async () => {},
    close: async () => {},
  };
  const flusher = new Flusher(registry, new PushSink(transport, []), { interval: 60_000, log });
  await measured("pushed, all changed", () => flusher.flush());
  await measured("pushed, none changed", () => flusher.flush());
  const families = new Families(registry, { mapping: defaultMapping(), log, dropped: { value: 0 } });
  const scrape = async (): Promise<void> => {
    for await (const piece of render(families, "text")) out += piece.length;
  };
  await measured("scraped, first", scrape);
  await measured("scraped, again", scrape);
  await measured("/stats", () => read(registry));
  console.log(`  ${(out / 2 ** 20).toFixed(0)} MiB of lines so far`);
  await measured("/stats with a filter", () => read(registry, "user_9.*total_hits$"));
}

async function read(registry: Registry, filter?: string): Promise<void> {
  for await (const _piece of registry.snapshot(filter === undefined ? {} : { filter }));
}

function row(name: string, work: (i: number) => void, calls = 2_000_000): void {
  for (let i = 0; i < calls / 10; i++) work(i);
  const started = performance.now();
  for (let i = 0; i < calls; i++) work(i);
  const nanoseconds = ((performance.now() - started) * 1e6) / calls;
  console.log(`  ${name.padEnd(42)} ${nanoseconds.toFixed(1).padStart(8)}`);
}

/** Measures the time, the retained memory and the longest turn of the event loop. */
async function measured(name: string, work: () => Promise<void>): Promise<void> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let worst = 0;
  let last = performance.now();
  let immediate = setImmediate(function tick() {
    worst = Math.max(worst, performance.now() - last);
    last = performance.now();
    immediate = setImmediate(tick);
  });
  const started = performance.now();
  await work();
  const took = performance.now() - started;
  worst = Math.max(worst, performance.now() - last);
  clearImmediate(immediate);
  globalThis.gc?.();
  const kept = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  console.log(
    `  ${name.padEnd(24)} ${took.toFixed(0).padStart(6)} ms   longest turn ${worst.toFixed(1).padStart(6)} ms   keeps ${kept.toFixed(1).padStart(6)} MiB`,
  );
}
