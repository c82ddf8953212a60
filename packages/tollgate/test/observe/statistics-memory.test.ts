import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createStatistics } from "../../src/observe/registry.ts";
import type { Statistics } from "../../src/observe/statistics.ts";
import { MergedStatistics } from "../../src/service/threads/merged-statistics.ts";
import { ThreadStatistics } from "../../src/service/threads/thread-statistics.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const KEYS = 10_000;
/** Bytes of memory for each of `STATS_MAX_DYNAMIC_KEYS`: the manual's figure, and a margin for uncollected garbage. */
const REGISTRY_BYTES = 1500;
const THREAD_BYTES = 800;

const texts: Readonly<Record<string, (number: number) => string>> = {
  "short names": (number) => `${number}`,
  "names of 250 bytes": (number) => `${number}`.padEnd(250, "x"),
  "names of 250 bytes that a statistic writes differently": (number) =>
    `${number}:10.0.0.1 `.padEnd(250, "x"),
  "names beyond 512 bytes": (number) => `${number}:`.padEnd(5000, "x"),
  "names of two bytes a character": (number) => `${number}`.padEnd(170, "世"),
  "names with one wide character": (number) => `${number}世`.padEnd(500, "x"),
};

/** Two and a half times the allowed number of keys. */
function fill(statistics: Statistics, textOf: (number: number) => string): void {
  for (let number = 0; number < 2 * KEYS; number++) {
    const text = Buffer.from(textOf(number)).toString();
    statistics.rule({ domain: "shop", levels: [text, `user_${text}`] }, true).totalHits++;
    if (number % 4 === 0) statistics.domainNotFound(text).value++;
  }
}

for (const [name, textOf] of Object.entries(texts))
  describe(`the memory of statistics: ${name}`, () => {
    it("is bounded in the registry", () => {
      fill(createStatistics({ maxDynamicKeys: 10 }), textOf);
      const before = heapUsed();
      const registry = createStatistics({ maxDynamicKeys: KEYS });
      fill(registry, textOf);
      const used = heapUsed() - before;
      assert.ok(registry.counters.length > 0);
      assert.ok(
        used < KEYS * REGISTRY_BYTES,
        `${Math.round(used / KEYS)} bytes for each key that there may be`,
      );
    });

    it("is bounded in a thread, and in the registry that takes over its counts", () => {
      fill(new ThreadStatistics(10, () => {}), textOf);
      const before = heapUsed();
      const thread = new ThreadStatistics(KEYS, () => {});
      fill(thread, textOf);
      const used = heapUsed() - before;
      assert.ok(
        used < KEYS * THREAD_BYTES,
        `${Math.round(used / KEYS)} bytes for each key that there may be`,
      );
      const registry = createStatistics({ maxDynamicKeys: KEYS });
      new MergedStatistics(registry).add(1, thread.take());
      const both = heapUsed() - before;
      assert.ok(both < KEYS * (THREAD_BYTES + REGISTRY_BYTES), `${Math.round(both / KEYS)} bytes`);
      const hits = registry.counters.reduce((sum, series) => sum + series.read(0), 0);
      assert.equal(hits, 2.5 * KEYS);
    });
  });
