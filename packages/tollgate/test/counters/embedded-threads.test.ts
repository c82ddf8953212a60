/** The embedded store in several threads: exact counts, also when a thread is terminated. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isTimeUp, scaled } from "../../../../tools/time-scale.ts";
import { CounterTable } from "../../src/counters/embedded/counter-table.ts";
import { EmbeddedStore, type EmbeddedStoreShare } from "../../src/counters/embedded/embedded-store.ts";
import { keyBytes } from "../../src/counters/embedded/key.ts";
import { attachBlock } from "../../src/counters/embedded/layout.ts";
import { voidTicket } from "../../src/counters/embedded/tickets.ts";
import { HoldBack } from "../../src/counters/store.ts";
import { makeCount, makeRequest } from "./conformance.ts";
import type { WorkerTask } from "./embedded-worker.ts";
import { retried } from "./retried.ts";

const NOW = 1_800_000_000_000;

function makeStore(t: TestContext, sizeInBytes = 16 * 1024 ** 2): EmbeddedStore {
  const store = EmbeddedStore.create({ sizeInBytes, reclaimInterval: 0 });
  t.after(() => store.close());
  return store;
}

/** Adds to a counter. @throws {StoreError} if another thread holds its lock for too long */
function addOnce(store: EmbeddedStore, stem: string, hits = 1): number {
  const count = makeCount({ stem, hits, windowStart: NOW / 1000, windowSize: 3600 });
  store.count(makeRequest([count], { now: NOW }));
  return count.after;
}

function add(store: EmbeddedStore, stem: string, hits = 1): number {
  let after = 0;
  retried(() => {
    after = addOnce(store, stem, hits);
  });
  return after;
}

/** Makes a counter reach its limit of 5. */
function useUp(store: EmbeddedStore, stem: string): void {
  const count = makeCount({ stem, hits: 5, limit: 5, windowStart: NOW / 1000, windowSize: 3600 });
  retried(() => store.count(makeRequest([count], { now: NOW })));
}

/** The threads of the present test. One that a failed test leaves would keep the process alive. */
const started: Worker[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.terminate()));
});

/** Starts threads that begin to count at the same time. */
async function startAll(tasks: readonly Omit<WorkerTask, "gate" | "now">[]): Promise<Worker[]> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const workers = tasks.map(
    (task) =>
      new Worker(new URL("./embedded-worker.ts", import.meta.url), {
        workerData: { ...task, gate, now: NOW } satisfies WorkerTask,
      }),
  );
  started.push(...workers);
  await Promise.all(workers.map((worker) => once(worker, "message")));
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  return workers;
}

function makeDone(keys: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * keys));
}

/** Asserts that each entry is found by its key, and that their number agrees with the statistics. */
function assertWhole(store: EmbeddedStore): void {
  const share = store.share();
  const table = new CounterTable(attachBlock(share.buffer), share.ticket);
  const memory = Buffer.from(share.buffer);
  const key = table.newKey();
  let entries = 0;
  for (const shard of table.shards)
    for (let segment = 0; segment < shard.segmentsTouched(); segment++)
      shard.forEach(segment, ({ start, lengthField, keyAt }) => {
        key.load(lengthField, memory.subarray(keyAt, keyAt + keyBytes(lengthField)));
        assert.equal(shard.find(key, start) * 8 + 28, keyAt, "an entry is not found by its key");
        entries += 1;
      });
  assert.equal(store.statistics().liveCounters, entries);
  store.workerExited(share);
}

/** Waits until each thread has counted, and then for a short time. The assertions hold at any time. */
async function allCount(tasks: readonly { done: Int32Array }[], milliseconds: number): Promise<void> {
  const begun = performance.now();
  while (tasks.some(({ done }) => done.every((count) => count === 0))) {
    assert.ok(!isTimeUp(begun, 30_000), "a thread does not count");
    await sleep(1);
  }
  await sleep(milliseconds);
}

const ended = (workers: readonly Worker[]) => Promise.all(workers.map((worker) => once(worker, "exit")));

describe("embedded store in several threads", () => {
  test("loses no hit and counts none twice", async (t) => {
    const store = makeStore(t);
    const keys = 7;
    const tasks = [1, 2, 3, 4].map((index) => ({
      share: store.share(),
      done: makeDone(keys),
      keys,
      calls: 30_000,
      kind: "add" as const,
      limit: 0,
      name: String(index),
    }));
    await ended(await startAll(tasks));
    let total = 0;
    for (let key = 0; key < keys; key++) total += add(store, `key${key}:`, 0);
    assert.equal(total, 4 * 30_000);
    assert.equal(store.statistics().takeovers, 0);
  });

  test("concurrent threads create each counter once", async (t) => {
    const store = makeStore(t);
    const tasks = [0, 1, 2].map(() => ({
      share: store.share(),
      done: makeDone(1),
      keys: 1,
      calls: 5_000,
      kind: "fresh" as const,
      limit: 0,
      name: "same",
    }));
    await ended(await startAll(tasks));
    for (let call = 0; call < 5_000; call++) assert.equal(add(store, `same|${call}:`, 0), 3);
    assert.equal(store.statistics().liveCounters, 5_000);
  });

  test("counts that hold each other back are exact in any order", async (t) => {
    const store = makeStore(t);
    const keys = 5;
    const limit = 2_000;
    const tasks = [0, 1, 2].map((index) => ({
      share: store.share(),
      done: makeDone(keys),
      keys,
      calls: 20_000,
      kind: "together" as const,
      limit,
      name: String(index),
    }));
    await ended(await startAll(tasks));
    for (let key = 0; key < keys; key++) {
      const counted = add(store, `key${key}:`, 0);
      const admitted = tasks.reduce((sum, { done }) => sum + done[key]!, 0);
      assert.equal(counted, admitted, `key ${key}`);
      assert.ok(counted > limit);
    }
  });

  for (const kind of ["add", "fresh", "together"] as const)
    test(`threads terminated during ${kind} lose no hit and leave no lock`, async (t) => {
      const store = makeStore(t, kind === "fresh" ? 64 * 1024 ** 2 : 1024 ** 2);
      const keys = kind === "fresh" ? 1 : 3;
      const done: Int32Array[] = [];
      const rounds = 8;
      for (let round = 0; round < rounds; round++) {
        const tasks = [0, 1].map((index) => ({
          share: store.share(),
          done: makeDone(keys),
          keys,
          calls: 0,
          kind,
          limit: 1e12,
          name: `${round}.${index}`,
        }));
        done.push(...tasks.map((task) => task.done));
        const workers = await startAll(tasks);
        await allCount(tasks, 5 + round);
        for (const [index, worker] of workers.entries()) {
          const exit = once(worker, "exit");
          await worker.terminate();
          await exit;
          store.workerExited(tasks[index]!.share);
          assert.ok(add(store, "after a death:") > 0);
        }
      }
      const sum = (key: number) => done.reduce((total, counts) => total + counts[key]!, 0);
      if (kind === "fresh") {
        // A thread may have created its last counter without reporting it.
        const live = store.statistics().liveCounters - 1;
        assert.ok(live >= sum(0) && live <= sum(0) + done.length, `${live} live, ${sum(0)} noted`);
        for (const [index, counts] of done.entries())
          for (let call = 0; call < counts[0]!; call += 17)
            assert.equal(add(store, `${Math.floor(index / 2)}.${index % 2}|${call}:`, 0), 1);
      } else
        for (let key = 0; key < keys; key++) {
          const counted = add(store, `key${key}:`, 0);
          const unnoted: number = done.length * (kind === "add" ? 1 : 2);
          assert.ok(counted >= sum(key) && counted <= sum(key) + unnoted, `${counted} of ${sum(key)}`);
        }
      assert.equal(add(store, "after a death:", 0), 2 * rounds);
    });

  test("threads terminated during evictions leave a consistent table with its used-up counters", async (t) => {
    const store = makeStore(t, 256 * 1024);
    const usedUp = 1000;
    // The used-up counters are spread, so that each eviction moves some.
    for (let index = 0; index < 10_000; index++) {
      if (index % 10 === 0) useUp(store, `used up|${index / 10}:`);
      add(store, `before|${index}:`);
    }
    assert.ok(store.statistics().evicted > 0);
    for (let round = 0; round < 12; round++) {
      const tasks = [0, 1].map((index) => ({
        share: store.share(),
        done: makeDone(1),
        keys: 1,
        calls: 0,
        kind: "fresh" as const,
        limit: 0,
        name: `${round}.${index}`,
      }));
      const workers = await startAll(tasks);
      await allCount(tasks, 3 + (round % 4));
      for (const [index, worker] of workers.entries()) {
        const exit = once(worker, "exit");
        await worker.terminate();
        await exit;
        store.workerExited(tasks[index]!.share);
      }
      assertWhole(store);
      for (let index = 0; index < usedUp; index++) assert.equal(add(store, `used up|${index}:`, 0), 5);
    }
    assert.equal(store.statistics().evictedProtected, 0);
  });

  test("concurrent threads that fill the table evict no used-up counter", async (t) => {
    const store = makeStore(t, 1024 ** 2);
    for (let index = 0; index < 500; index++) useUp(store, `used up|${index}:`);
    const tasks = [0, 1].map((index) => ({
      share: store.share(),
      done: makeDone(1),
      keys: 1,
      calls: 30_000,
      kind: "fresh" as const,
      limit: 0,
      name: `flood${index}`,
    }));
    await ended(await startAll(tasks));
    assert.ok(store.statistics().evicted > 30_000);
    assert.equal(store.statistics().evictedProtected, 0);
    for (let index = 0; index < 500; index++) assert.equal(add(store, `used up|${index}:`, 0), 5);
    assertWhole(store);
  });

  describe("a lock whose holder has ended", () => {
    /** Simulates an ended thread that holds all locks. */
    function holdAll(store: EmbeddedStore): { share: EmbeddedStoreShare; table: CounterTable } {
      const share = store.share();
      const table = new CounterTable(attachBlock(share.buffer), share.ticket);
      for (const shard of table.shards) shard.acquire();
      return { share, table };
    }

    test("is freed by workerExited, and the counts remain", (t) => {
      const store = makeStore(t);
      for (let index = 0; index < 5_000; index++) add(store, `k${index}:`, index + 1);
      const { share, table } = holdAll(store);
      // Destroys the buckets of every shard: a rebuild must not need them.
      const { layout, ints } = table.block;
      for (let shard = 0; shard < layout.shards; shard++) {
        const buckets = (layout.firstShard + shard * layout.shardWords + layout.bucketsAt) * 2;
        ints.fill(0, buckets, buckets + layout.buckets);
      }
      store.workerExited(share);
      for (let index = 0; index < 5_000; index++) assert.equal(add(store, `k${index}:`), index + 2);
      assert.equal(store.statistics().liveCounters, 5_000);
      assert.equal(store.statistics().takeovers, layout.shards);
    });

    test("is taken over by a waiting thread", (t) => {
      const store = makeStore(t);
      assert.equal(add(store, "k:"), 1);
      const { share, table } = holdAll(store);
      voidTicket(table.block.ints, share.ticket);
      assert.equal(add(store, "k:"), 2);
      assert.equal(add(store, "k:"), 3);
      assert.equal(store.statistics().takeovers, 1);
    });

    test("fails calls after half a second while its holder is alive, and works again afterwards", (t) => {
      const store = makeStore(t);
      assert.equal(add(store, "k:"), 1);
      const { share, table } = holdAll(store);
      const unavailable = { name: "StoreError", code: "STORE_UNAVAILABLE" };
      assert.throws(() => addOnce(store, "k:"), unavailable);
      const start = performance.now();
      for (let call = 0; call < 100; call++) assert.throws(() => addOnce(store, "k:"), unavailable);
      assert.ok(
        performance.now() - start < scaled(5000),
        "a hundred more calls do not wait half a second each",
      );
      // Enough keys that at least one of them belongs to a locked shard.
      const counts = Array.from({ length: 40 }, (_, index) => makeCount({ stem: `k${index}:` }));
      table.shards[0]!.release();
      assert.throws(() => store.count(makeRequest(counts, { holdBack: HoldBack.WHEN_REFUSED })), unavailable);
      for (const shard of table.shards) shard.release();
      assert.equal(add(store, "k:"), 2);
      // If the same thread takes it again, calls wait again.
      const { shards } = table;
      for (const shard of shards) shard.acquire();
      const again = performance.now();
      assert.throws(() => addOnce(store, "k:"), unavailable);
      assert.ok(performance.now() - again >= 490);
      for (const shard of shards) shard.release();
      store.workerExited(share);
      assert.equal(store.statistics().takeovers, 0);
    });

    test("reuses places of ended threads with new tickets", (t) => {
      const store = makeStore(t);
      const seen = new Set<number>();
      for (let round = 0; round < 1000; round++) {
        const share = store.share();
        assert.ok(!seen.has(share.ticket));
        seen.add(share.ticket);
        store.workerExited(share);
      }
      for (let place = 2; place <= 255; place++) store.share();
      assert.throws(() => store.share(), /at most 255 threads/);
    });
  });

  test("refuses memory of another kind", () => {
    assert.throws(() => {
      const holds = new SharedArrayBuffer(64);
      EmbeddedStore.attach({ buffer: new SharedArrayBuffer(65_536), holds, ticket: 257 });
    }, /does not belong to an embedded store/);
  });
});
