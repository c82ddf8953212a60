import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { EmbeddedStore } from "./embedded-store.ts";

const NOW = 1_800_000_000_000;

function makeStore() {
  const lines: string[] = [];
  /** The store reads its wall clock once in each round. */
  const time = { now: NOW, rounds: 0 };
  const store = EmbeddedStore.create({
    sizeInBytes: 64 * 1024,
    reclaimInterval: 1,
    clock: () => {
      time.rounds += 1;
      return time.now;
    },
    monotonic: () => time.now,
    report: (line) => lines.push(line),
  });
  const add = (stem: string, hits: number) => {
    const count = makeCount({ stem, hits, limit: 10, windowStart: NOW / 1000, windowSize: 86_400 });
    store.count(makeRequest([count], { now: time.now }));
  };
  return { store, time, lines, add };
}

/** Waits for an effect of the store's timer. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

describe("the log line of evictions", () => {
  test("names evicted and used-up counters and a remedy, once a minute", async (t) => {
    const { store, time, lines, add } = makeStore();
    t.after(() => store.close());
    for (let index = 0; index < 5000; index++) add(`a${index}:`, 1);
    const first = store.statistics().evicted;
    assert.ok(first > 3000);
    await until(() => lines.length > 0);
    assert.equal(
      lines[0],
      `the embedded store is full (65536 bytes): it evicted ${first} counters before their window's end, 0 of them with a ` +
        "used-up limit; their callers get fresh limits. Raise EMBEDDED_STORE_SIZE_IN_BYTES, or limit the number of distinct keys",
    );
    for (let index = 0; index < 5000; index++) add(`b${index}:`, 10);
    const { evicted, evictedProtected } = store.statistics();
    assert.ok(evictedProtected > 3000);
    time.now += 59_000;
    const { rounds } = time;
    await until(() => time.rounds >= rounds + 3);
    assert.equal(lines.length, 1);
    time.now += 2000;
    await until(() => lines.length > 1);
    assert.ok(lines[1]!.includes(`evicted ${evicted - first} counters`), String(lines[1]));
    assert.ok(lines[1]!.includes(`${evictedProtected} of them with`), String(lines[1]));
  });

  test("does not appear for counters of ended windows", async (t) => {
    const { store, time, lines, add } = makeStore();
    t.after(() => store.close());
    for (let index = 0; index < 500; index++) add(`a${index}:`, 10);
    time.now += 2 * 86_400_000;
    await until(() => store.statistics().expired === 500);
    assert.deepEqual(lines, []);
    assert.equal(store.statistics().evicted, 0);
  });
});
