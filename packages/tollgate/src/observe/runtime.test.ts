import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pageOf } from "./page.fixture.ts";
import { createStatistics } from "./registry.ts";
import { watchRuntime } from "./runtime.ts";

describe("statistics of the process", () => {
  it("equal Node's own figures", async () => {
    const registry = createStatistics();
    const stop = watchRuntime(registry);
    try {
      // One tick starts the measurement. Then the loop is busy for longer than the resolution, and creates some garbage.
      await new Promise((resolve) => setTimeout(resolve, 30));
      const until = performance.now() + 60;
      let garbage: unknown[] = [];
      while (performance.now() < until) garbage = Array.from({ length: 1000 }, (_, i) => ({ i, garbage: i }));
      assert.equal(garbage.length, 1000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const all: Record<string, number> = JSON.parse(await pageOf(registry, { json: true }));
      const read = (name: string): number => all[`ratelimit.${name}`]!;
      assert.ok(read("process.cpu_seconds_total") > 0);
      assert.ok(Math.abs(read("process.resident_memory_bytes") / process.memoryUsage.rss() - 1) < 0.5);
      assert.ok(Math.abs(read("process.start_time_seconds") - (Date.now() / 1000 - process.uptime())) < 5);
      assert.ok(read("process.open_fds") > 0);
      assert.ok(read("nodejs.heap_size_used_bytes") <= read("nodejs.heap_size_total_bytes"));
      assert.ok(read("nodejs.eventloop_lag_max_seconds") >= 0.02);
      assert.ok(read("nodejs.eventloop_lag_max_seconds") >= read("nodejs.eventloop_lag_p50_seconds"));
      assert.ok(read("nodejs.eventloop_utilization") > 0 && read("nodejs.eventloop_utilization") <= 1);
      assert.ok(read("nodejs.gc_duration.__kind=minor.count") > 0);
    } finally {
      stop();
    }
  });
});
