import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { countOf, NOW, requestOf, stemOf } from "./workload.ts";

const COUNTERS = 1_000_000;

/** Measures process memory for each of 1,000,000 live counters, and the capacity of a store. */
export function runMemory(): void {
  runProcess();
  runCapacity();
}

/** Measures how many counters fit into the default store without evictions, for some lengths of stems. */
function runCapacity(): void {
  const rows: Record<string, Record<string, string>> = {};
  for (const length of [24, 45, 80, 160, 500]) {
    const store = EmbeddedStore.create({ reclaimInterval: 0 });
    const count = countOf("");
    const request = requestOf([count]);
    let counters = 0;
    // Reading the statistics takes longer than a count.
    while (counters % 1000 !== 0 || store.statistics().evicted === 0) {
      Object.assign(count, { stem: `${counters}|`.padStart(length, "edge|remote_address=") });
      store.count(request);
      counters += 1;
    }
    rows[`${length} characters`] = {
      counters: String(store.statistics().liveCounters),
      "bytes each": (store.statistics().sizeInBytes / store.statistics().liveCounters).toFixed(0),
    };
    void store.close();
  }
  console.table(rows);
}

function runProcess(): void {
  const rows: Record<string, Record<string, string>> = {};
  const settle = () => {
    globalThis.gc?.();
    return process.memoryUsage.rss();
  };
  // The first store includes the time of compilation.
  const warm = EmbeddedStore.create();
  for (let index = 0; index < 10_000; index++) warm.count(requestOf([countOf(stemOf(index))]));
  const before = settle();
  const store = EmbeddedStore.create();
  const made = settle();
  const count = countOf("");
  const request = requestOf([count]);
  for (let index = 0; index < COUNTERS; index++) {
    Object.assign(count, { stem: stemOf(index) });
    store.count(request);
  }
  const after = settle();
  const { liveCounters, bytesUsed, evicted } = store.statistics();
  rows["an empty store of 256 MiB"] = { "RSS MB": ((made - before) / 1e6).toFixed(1), "bytes each": "" };
  rows[`${liveCounters} counters, ${evicted} evicted`] = {
    "RSS MB": ((after - made) / 1e6).toFixed(1),
    "bytes each": ((after - made) / liveCounters).toFixed(1),
  };
  rows["of that, in segments"] = {
    "RSS MB": (bytesUsed / 1e6).toFixed(1),
    "bytes each": (bytesUsed / liveCounters).toFixed(1),
  };
  const map = new Map<string, number>();
  const beforeMap = settle();
  for (let index = 0; index < COUNTERS; index++) map.set(`${stemOf(index)}${NOW / 1000}`, 1);
  const afterMap = settle();
  rows["baseline: a Map with the same counters"] = {
    "RSS MB": ((afterMap - beforeMap) / 1e6).toFixed(1),
    "bytes each": ((afterMap - beforeMap) / map.size).toFixed(1),
  };
  console.table(rows);
  void store.close();
  void warm.close();
}
