import { readdirSync } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver, performance } from "node:perf_hooks";
import type { Registry } from "./registry.ts";

const gcKinds = new Map([
  [1, "minor"],
  [2, "minor"],
  [4, "major"],
  [8, "incremental"],
  [16, "weakcb"],
]);

/** Interval of the event loop lag measurement, in milliseconds. */
const LAG_RESOLUTION = 10;
/** Gauges read within this time share one reading: they belong to one flush or scrape. */
const SAME_READING_MS = 100;

/**
 * Adds statistics of the process, the event loop and garbage collection. Costs a timer and an observer, so the service
 * calls it only if a sink is configured.
 * @returns a function that stops the measurement
 */
export function watchRuntime(statistics: Registry): () => void {
  watchProcess(statistics);
  const stopLag = watchEventLoop(statistics);
  const stopCollections = watchCollections(statistics);
  return () => {
    stopLag();
    stopCollections();
  };
}

function watchProcess(statistics: Registry): void {
  const started = (performance.timeOrigin ?? Date.now()) / 1000;
  const cpu = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  statistics.counterFrom("ratelimit.process.cpu_seconds_total", cpu);
  statistics.gauge("ratelimit.process.resident_memory_bytes", () => process.memoryUsage.rss());
  statistics.gauge("ratelimit.process.start_time_seconds", () => started);
  // Without /proc the reader throws. The gauge is then NaN and not shown.
  statistics.gauge("ratelimit.process.open_fds", () => readdirSync("/proc/self/fd").length - 1);
  const memory = sharedReading(() => process.memoryUsage());
  statistics.gauge("ratelimit.nodejs.heap_size_total_bytes", () => memory().heapTotal);
  statistics.gauge("ratelimit.nodejs.heap_size_used_bytes", () => memory().heapUsed);
  statistics.gauge("ratelimit.nodejs.external_memory_bytes", () => memory().external);
}

function watchEventLoop(statistics: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION });
  delay.enable();
  let before = performance.eventLoopUtilization();
  const lag = sharedReading(() => {
    // The histogram holds whole intervals between ticks. The lag is the part above the resolution.
    const late = (nanoseconds: number): number => Math.max(nanoseconds / 1e9 - LAG_RESOLUTION / 1000, 0);
    const now = performance.eventLoopUtilization();
    const reading = {
      mean: delay.count === 0 ? 0 : late(delay.mean),
      p50: late(delay.percentile(50)),
      p99: late(delay.percentile(99)),
      max: delay.count === 0 ? 0 : late(delay.max),
      utilization: performance.eventLoopUtilization(now, before).utilization,
    };
    delay.reset();
    before = now;
    return reading;
  });
  statistics.gauge("ratelimit.nodejs.eventloop_lag_mean_seconds", () => lag().mean);
  statistics.gauge("ratelimit.nodejs.eventloop_lag_p50_seconds", () => lag().p50);
  statistics.gauge("ratelimit.nodejs.eventloop_lag_p99_seconds", () => lag().p99);
  statistics.gauge("ratelimit.nodejs.eventloop_lag_max_seconds", () => lag().max);
  statistics.gauge("ratelimit.nodejs.eventloop_utilization", () => lag().utilization);
  return () => delay.disable();
}

function watchCollections(statistics: Registry): () => void {
  const timers = new Map(
    [...new Set(gcKinds.values())].map((kind) => [
      kind,
      statistics.timer(`ratelimit.nodejs.gc_duration.__kind=${kind}`),
    ]),
  );
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as typeof entry & { readonly detail?: { readonly kind?: number } };
      timers.get(gcKinds.get(detail?.kind ?? 0) ?? "major")!.record(entry.duration);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return () => observer.disconnect();
}

/** Shares one reading among gauges that are read within a short time. */
function sharedReading<T>(read: () => T): () => T {
  let value: T;
  let at = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - at > SAME_READING_MS) {
      value = read();
      at = now;
    }
    return value;
  };
}
