/** Tests of reclaiming ended windows, and of full stores. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCount, makeRequest } from "../../../test/counters/conformance.ts";
import { HoldBack } from "../store.ts";
import { EmbeddedStore } from "./embedded-store.ts";
import { layoutOf, MAX_SIZE_IN_BYTES, MIN_SIZE_IN_BYTES } from "./layout.ts";

const NOW = 1_800_000_000_000;

/** Both clocks. The wall clock advances like the monotonic clock. */
const time = { now: NOW };

function add(store: EmbeddedStore, stem: string, windowSize: number, hits = 1, now = NOW): number {
  time.now = now;
  const seconds = Math.floor(now / 1000);
  const count = makeCount({ stem, hits, windowSize, windowStart: seconds - (seconds % windowSize) });
  store.count(makeRequest([count], { now }));
  return count.after;
}

function makeStore(sizeInBytes: number, reclaimInterval = 0): EmbeddedStore {
  time.now = NOW;
  const clock = () => time.now;
  return EmbeddedStore.create({ sizeInBytes, reclaimInterval, clock, monotonic: clock });
}

const small = () => makeStore(64 * 1024);

/** Adds counters until the store starts to evict. @returns their number */
function fill(store: EmbeddedStore, prefix: string, windowSize: number): number {
  for (let index = 0; ; index++) {
    add(store, `${prefix}${index}:`, windowSize);
    if (store.statistics().evicted > 0) return index + 1;
  }
}

describe("reclaiming", () => {
  test("evicts from the largest class of a full store and keeps the others", () => {
    const store = small();
    for (let index = 0; index < 100; index++) {
      add(store, `day${index}:`, 86_400);
      add(store, `hour${index}:`, 3600);
    }
    const minutes = fill(store, "minute", 60);
    for (let index = 0; index < 5000; index++) add(store, `more${index}:`, 60);
    const { evicted, expired, liveCounters } = store.statistics();
    assert.ok(evicted > 4000);
    assert.equal(expired, 0);
    assert.equal(liveCounters + evicted, 200 + minutes + 5000);
    for (let index = 0; index < 100; index++) {
      assert.equal(add(store, `day${index}:`, 86_400, 0), 1);
      assert.equal(add(store, `hour${index}:`, 3600, 0), 1);
    }
    assert.equal(add(store, "more4999:", 60, 0), 1, "the newest counter exists");
  });

  test("evicts in each of many shards, which fill evenly", () => {
    const store = makeStore(16 * 1024 ** 2);
    for (let index = 0; index < 20_000; index++) add(store, `day${index}:`, 86_400);
    for (let index = 0; index < 350_000; index++) add(store, `minute${index}:`, 60);
    const { evicted, liveCounters } = store.statistics();
    assert.ok(evicted > 0);
    assert.ok(liveCounters > 200_000, "all shards fill at about the same time");
    for (let index = 0; index < 20_000; index++) assert.equal(add(store, `day${index}:`, 86_400, 0), 1);
  });

  test("keeps frequently counted counters among many new ones", () => {
    const store = small();
    for (let index = 0; index < 20_000; index++) {
      add(store, `flood${index}:`, 60);
      if (index % 100 === 0) for (let own = 0; own < 20; own++) add(store, `regular${own}:`, 60);
    }
    assert.ok(store.statistics().evicted > 10_000);
    for (let own = 0; own < 20; own++) assert.equal(add(store, `regular${own}:`, 60, 0), 200);
  });

  test("an evicted counter starts at 0, with or without a hint", () => {
    for (const holdBack of [HoldBack.NEVER, HoldBack.WHEN_REFUSED]) {
      const store = small();
      const both = () => {
        const counts = [60, 86_400].map((windowSize) =>
          makeCount({
            stem: `k${windowSize}:`,
            windowSize,
            windowStart: NOW / 1000 - ((NOW / 1000) % windowSize),
          }),
        );
        store.count(makeRequest(counts, { now: NOW, holdBack }));
        return counts.map(({ after }) => after);
      };
      fill(store, "first", 60);
      for (const value of [1, 2, 3, 4]) assert.deepEqual(both(), [value, value]);
      for (let index = 0; index < 5000; index++) add(store, `minute${index}:`, 60, 7);
      assert.deepEqual(both(), [1, 5]);
      assert.deepEqual(both(), [2, 6]);
      for (let index = 4990; index < 5000; index++) assert.equal(add(store, `minute${index}:`, 60, 0), 7);
    }
  });

  test("reclaims an ended window before it evicts", () => {
    const store = small();
    const room = fill(store, "a", 60) - 1;
    const { evicted } = store.statistics();
    const later = NOW + 62_000;
    for (let index = 0; index < room - 100; index++) add(store, `b${index}:`, 60, 1, later);
    const after = store.statistics();
    assert.equal(after.evicted, evicted);
    assert.ok(after.expired > room / 2);
    for (let index = 0; index < room - 100; index++) assert.equal(add(store, `b${index}:`, 60, 0, later), 1);
  });

  test("frees at most three segments in one call", () => {
    const sizeInBytes = 1024 ** 2;
    const store = makeStore(sizeInBytes);
    const { segmentWords } = layoutOf(sizeInBytes);
    const smallestEntry = 4;
    let freed = 0;
    const addAll = (stem: string, windowSize: number, times: number, now: number) => {
      for (let index = 0; index < times; index++) {
        add(store, `${stem}${index}:`, windowSize, 1, now);
        const { expired, evicted } = store.statistics();
        assert.ok(
          expired + evicted - freed <= (3 * segmentWords) / smallestEntry,
          `${expired + evicted - freed} at once`,
        );
        freed = expired + evicted;
      }
    };
    addAll("minute", 60, 10_000, NOW);
    addAll("later", 60, 5_000, NOW + 62_000);
    addAll("full", 3600, 30_000, NOW + 62_000);
    const { expired, evicted } = store.statistics();
    assert.ok(
      expired >= 9_900,
      `${expired} expired: all but those in the segment that took the next window's`,
    );
    assert.ok(evicted >= 5_000, `${evicted} evicted`);
  });

  test("reuses memory before it touches new memory", () => {
    const store = makeStore(8 * 1024 ** 2);
    let most = 0;
    for (let window = 0; window < 20; window++) {
      for (let index = 0; index < 2000; index++) add(store, `k${index}:`, 1, 1, NOW + window * 3000);
      most = Math.max(most, store.statistics().bytesUsed);
    }
    assert.ok(most < 2 * 2000 * 100, `${most} bytes for 2000 live counters`);
    assert.equal(store.statistics().evicted, 0);
  });

  test("reclaims in steps in the background, without calls", async () => {
    const store = makeStore(1024 ** 2, 1);
    for (let index = 0; index < 3000; index++) add(store, `k${index}:`, 60);
    add(store, "day:", 86_400);
    time.now += 61_000;
    while (store.statistics().liveCounters > 1) await sleep(1);
    assert.equal(store.statistics().expired, 3000);
    assert.equal(add(store, "day:", 86_400, 0), 1);
    await store.close();
  });

  test("evicts nothing for many different window ends", () => {
    const store = small();
    for (let index = 0; index < 500; index++) {
      const fields = { stem: "k:", windowStart: NOW / 1000 + index, windowSize: 1 + (index % 7) * 4000 };
      const count = makeCount(fields);
      store.count(makeRequest([count], { now: NOW }));
      assert.equal(count.after, 1);
    }
    const { evicted, expired, liveCounters } = store.statistics();
    assert.deepEqual([evicted, expired, liveCounters], [0, 0, 500]);
  });

  test("reclaims segments behind one that ends late", async () => {
    const store = makeStore(1024 ** 2, 1);
    // As with a wall clock that is temporarily a week ahead.
    for (let index = 0; index < 200; index++) add(store, `early${index}:`, 60, 1, NOW + 7 * 86_400_000);
    for (let index = 0; index < 3000; index++) add(store, `k${index}:`, 60);
    time.now = NOW + 61_000;
    while (store.statistics().expired < 2900) await sleep(1);
    assert.equal(store.statistics().evicted, 0);
    await store.close();
  });

  test("looks and refunds take no memory", () => {
    const store = small();
    for (let index = 0; index < 1000; index++) {
      assert.equal(add(store, `look${index}:`, 60, 0), 0);
      assert.equal(add(store, `back${index}:`, 60, -5), 0);
    }
    assert.equal(store.statistics().liveCounters, 0);
  });

  test("a long stem takes at most 512 bytes", () => {
    const store = small();
    for (let index = 0; index < 100; index++) add(store, `${"x".repeat(100_000)}${index}:`, 60);
    const { evicted, bytesUsed } = store.statistics();
    assert.equal(evicted, 0);
    assert.ok(bytesUsed <= 100 * 600);
  });

  test("refuses an invalid size and names the valid range", () => {
    for (const sizeInBytes of [0, -1, Number.NaN, MIN_SIZE_IN_BYTES - 1, MAX_SIZE_IN_BYTES + 1])
      assert.throws(() => EmbeddedStore.create({ sizeInBytes }), /it must be 65536 to 4294967296/);
    for (const sizeInBytes of [MIN_SIZE_IN_BYTES, 100_001, 3 * 1024 ** 2, 257 * 1024 ** 2]) {
      const store = EmbeddedStore.create({ sizeInBytes, reclaimInterval: 0 });
      assert.ok(store.statistics().sizeInBytes <= sizeInBytes);
      for (let index = 0; index < 500; index++) assert.equal(add(store, `k${index}:`, 60), 1);
      assert.equal(add(store, "k499:", 60), 2);
    }
  });
});
