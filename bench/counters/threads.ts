import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { countOf, requestOf, stemOf } from "./workload.ts";

const CALLS = 2_000_000;

/**
 * Measures several threads that only count on one store: on their own keys, on 1,000 shared keys, on one shared key. The
 * baseline is the same number of threads with a store each. (In a decision of 1 to 2 µs a count holds its lock for 2 %
 * of the time, so real threads collide far less often.)
 */
export async function runThreads(): Promise<void> {
  const rows: Record<string, Record<string, string>> = {};
  for (const shape of ["own stores", "own keys", "1,000 shared keys", "one shared key"] as const) {
    const alone = await measure(shape, 1);
    for (const threads of [1, 2, 4, 8].filter((threads) => threads <= availableParallelism())) {
      const nanoseconds = threads === 1 ? alone : await measure(shape, threads);
      rows[`${shape}, ${threads} threads`] = {
        "CPU ns a count": nanoseconds.toFixed(0),
        "against one thread": (nanoseconds / alone).toFixed(2),
      };
    }
  }
  console.table(rows);
}

async function measure(shape: string, threads: number): Promise<number> {
  const store = EmbeddedStore.create();
  const own = shape === "own stores";
  const stores = Array.from({ length: threads }, () => (own ? EmbeddedStore.create() : store));
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from({ length: threads }, (_, index) => {
    const keys = shape === "one shared key" ? 1 : 1000;
    const from = shape === "own keys" ? index * 1000 : 0;
    return new Worker(new URL("./threads-worker.ts", import.meta.url), {
      workerData: { share: stores[index]!.share(), gate, keys, from, calls: CALLS },
    });
  });
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const done = workers.map((worker) => once(worker, "message"));
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  const taken = (await Promise.all(done)).map(([milliseconds]) => milliseconds as number);
  let total = 0;
  const indexes = shape === "one shared key" ? 1 : 1000 * (shape === "own keys" ? threads : 1);
  for (let index = 0; index < indexes; index++)
    for (const counted of new Set(stores)) {
      const count = { ...countOf(stemOf(index)), hits: 0 };
      counted.count(requestOf([count]));
      total += count.after;
    }
  if (total !== threads * CALLS)
    throw new Error(`counted ${total} of ${threads * CALLS}: the store is not exact`);
  await Promise.all(workers.map((worker) => worker.terminate()));
  await Promise.all(stores.map((each) => each.close()));
  return (Math.max(...taken) * 1e6) / CALLS;
}
