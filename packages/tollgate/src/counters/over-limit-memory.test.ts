import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { cacheKeyStem, LONGEST_KEYS } from "../decision/cache-key.ts";
import { Unit } from "../protocol/messages.ts";
import { OverLimitCache } from "./over-limit-cache.ts";
import { type CounterStore, HoldBack, Outcome, Refuses } from "./store.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A store with all counters above their limit. */
const above: CounterStore = {
  kind: "embedded",
  count({ counts }) {
    for (const count of counts) {
      count.outcome = Outcome.COUNTED;
      count.after = count.limit + 1;
    }
  },
  close: async () => {},
};

const NOW = 1_000_000;
const KEYS = { cacheKeyPrefix: "", longestKey: LONGEST_KEYS.embedded };

function fill(cache: OverLimitCache, entries: number, length: number, character: string): void {
  for (let number = 0; number < entries; number++) {
    const value = Buffer.from(`${number}`.padEnd(length, character)).toString();
    const stem = cacheKeyStem(KEYS, "d", [{ key: "k", value }], { sharedValues: undefined }, Unit.DAY);
    const count = { stem, windowStart: 0, windowSize: 86_400, hits: 1, limit: 5, refuses: Refuses.ALWAYS };
    const counts = [{ ...count, outcome: Outcome.COUNTED, after: 0 }];
    void cache.count({ counts, holdBack: HoldBack.NEVER, now: NOW, deadline: 0 });
  }
}

const CAPACITY = 4 * 1024 * 1024;

for (const [length, character] of [
  [8, "x"],
  [60, "x"],
  [200, "世"],
  [5000, "x"],
] as const)
  test(`the cache takes LOCAL_CACHE_SIZE_IN_BYTES, with values of ${length} times ${character}`, () => {
    fill(new OverLimitCache(above, { sizeInBytes: 10_000 }), 1000, length, character);
    const before = heapUsed();
    const cache = new OverLimitCache(above, { sizeInBytes: CAPACITY });
    fill(cache, Math.ceil((CAPACITY / (100 + length)) * 1.5), length, character);
    const used = heapUsed() - before;
    assert.ok(cache.gauges().evacuateCount > 0, "the cache is full");
    const share = used / CAPACITY;
    assert.ok(share < 1.15 && share > 0.7, `${used} bytes for ${cache.gauges().entryCount} entries`);
  });
