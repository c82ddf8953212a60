/** Limits of the embedded store in several threads: exact, also when a thread is terminated. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { AlgorithmName } from "../../src/counters/algorithms/algorithm.ts";
import { EmbeddedStore } from "../../src/counters/embedded/embedded-store.ts";
import { makeAcquire } from "./acquire-conformance.ts";
import type { WorkerTask } from "./embedded-worker.ts";

const NOW = 1_800_000_000_000;

async function start(
  t: TestContext,
  store: EmbeddedStore,
  task: Pick<WorkerTask, "kind" | "keys" | "calls" | "limit" | "algorithm">,
) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const threads = [0, 1].map(() => {
    const share = store.share();
    const done = new Int32Array(new SharedArrayBuffer(4 * task.keys));
    const workerData: WorkerTask = { ...task, share, gate, done, name: "", now: NOW };
    const worker = new Worker(new URL("./embedded-worker.ts", import.meta.url), { workerData });
    t.after(() => worker.terminate());
    return { worker, share, done };
  });
  await Promise.all(threads.map(({ worker }) => once(worker, "message")));
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  return threads;
}

function usedOf(store: EmbeddedStore, key: number, limit: number, algorithm: AlgorithmName): number {
  const bucket = { stem: `bucket${key}:`, algorithm, limit, windowSize: 86_400 };
  const request = makeAcquire([{ limits: [bucket], hits: 0 }], NOW);
  store.acquire(request);
  return request.groups[0]!.limits[0]!.used;
}

describe("limits in several threads", () => {
  for (const [kind, algorithm] of [
    ["acquire", "token_bucket"],
    ["acquire", "sliding_window"],
    ["acquire", "accepted_window"],
    ["acquireList", "token_bucket"],
    ["acquireList", "sliding_window"],
  ] as const)
    test(`${kind}, ${algorithm}: two threads get exactly the hits of each limit`, async (t) => {
      const store = EmbeddedStore.create({ sizeInBytes: 1024 ** 2, reclaimInterval: 0 });
      const keys = 5;
      const limit = 1000;
      const threads = await start(t, store, { kind, keys, calls: 20_000, limit, algorithm });
      await Promise.all(threads.map(({ worker }) => once(worker, "exit")));
      const sums = Array.from({ length: keys }, (_, key) =>
        threads.reduce((sum, { done }) => sum + done[key]!, 0),
      );
      for (const [key, sum] of sums.entries()) assert.equal(usedOf(store, key, limit, algorithm), sum);
      if (kind === "acquire")
        assert.deepEqual(
          sums,
          Array.from({ length: keys }, () => limit),
        );
      // The last list of the limits that had hits left used one of them up.
      else assert.ok(Math.max(...sums) === limit && sums.every((sum) => sum <= limit), sums.join());
    });

  test("a thread that is terminated leaves states that others can use", async (t) => {
    for (let round = 0; round < 8; round++) {
      const store = EmbeddedStore.create({ sizeInBytes: 64 * 1024, reclaimInterval: 0 });
      const keys = 50;
      const threads = await start(t, store, { kind: "acquireMoving", keys, calls: 0, limit: 5 });
      while (threads.some(({ done }) => done.every((count) => count === 0))) await sleep(1);
      await sleep(round % 5);
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
      for (const { share } of threads) store.workerExited(share);
      const later = NOW + 1e9;
      for (let key = 0; key < keys; key++) {
        const limit = { stem: `moving${key}:`, algorithm: "token_bucket", limit: 5, windowSize: 2 } as const;
        const codes = Array.from({ length: 6 }, () => {
          const request = makeAcquire([{ limits: [limit] }], later);
          store.acquire(request);
          return request.groups[0]!.accepted;
        });
        assert.deepEqual(codes, [true, true, true, true, true, false]);
      }
    }
  });
});
