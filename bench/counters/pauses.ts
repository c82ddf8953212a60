import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { countOf, NOW, requestOf, stemOf } from "./workload.ts";

const COUNTERS = 1_000_000;
const MINUTE = 60_000;

/** Both clocks of the store. */
const time = { now: NOW };

/** Measures the longest call: while filling, after the end of a window of 1,000,000 counters, and while full. */
export function runPauses(): void {
  const rows: Record<string, Record<string, string>> = {};
  const store = EmbeddedStore.create({
    reclaimInterval: 0,
    clock: () => time.now,
    monotonic: () => time.now,
  });
  rows[`filling with ${COUNTERS}`] = measure(store, 0, COUNTERS);
  rows["the next window, which reclaims the last one"] = measure(store, 1, COUNTERS);
  rows["the window after it"] = measure(store, 2, COUNTERS);
  const { evicted, expired, liveCounters } = store.statistics();
  console.log(`expired ${expired}, evicted ${evicted}, live ${liveCounters}`);
  const small = EmbeddedStore.create({ sizeInBytes: 32 * 1024 ** 2, reclaimInterval: 0 });
  rows["a store of 32 MiB, full after a third of the counters"] = measure(small, 0, COUNTERS);
  console.log(`evicted ${small.statistics().evicted}`);
  const used = EmbeddedStore.create({ sizeInBytes: 32 * 1024 ** 2, reclaimInterval: 0 });
  rows["a store of 32 MiB, full, 9 of 10 counters used up"] = measure(used, 0, COUNTERS, true);
  const { evictedProtected } = used.statistics();
  console.log(`evicted ${used.statistics().evicted}, ${evictedProtected} of them used up`);
  rows["baseline: a growing Map"] = measureMap();
  rows["baseline: making the strings alone"] = longest(
    COUNTERS,
    (index) => void stemOf(index).charCodeAt(40),
  );
  console.table(rows);
  void store.close();
  void small.close();
  void used.close();
}

function measure(
  store: EmbeddedStore,
  windows: number,
  counters: number,
  usedUp = false,
): Record<string, string> {
  const now = NOW + windows * (MINUTE + 2000);
  time.now = now;
  const count = countOf("", NOW / 1000 + windows * 60);
  const request = { ...requestOf([count]), now };
  return longest(counters, (index) => {
    Object.assign(count, { stem: stemOf(index), limit: usedUp && index % 10 !== 0 ? 1 : 1e9 });
    store.count(request);
  });
}

function measureMap(): Record<string, string> {
  const map = new Map<string, number>();
  return longest(COUNTERS, (index) => map.set(stemOf(index), 1));
}

/**
 * Measures wall time, because processor time has ticks of 4 ms. It includes the time of other processes on this core,
 * and the collection of the strings of the bench. The baselines also include both.
 */
function longest(calls: number, call: (index: number) => void): Record<string, string> {
  const over = { "1 ms": 0, "10 ms": 0 };
  let longest = 0;
  const start = performance.now();
  let last = start;
  for (let index = 0; index < calls; index++) {
    call(index);
    const now = performance.now();
    const taken = now - last;
    last = now;
    if (taken > longest) longest = taken;
    if (taken > 1) over["1 ms"] += 1;
    if (taken > 10) over["10 ms"] += 1;
  }
  return {
    "longest ms": longest.toFixed(2),
    "over 1 ms": String(over["1 ms"]),
    "over 10 ms": String(over["10 ms"]),
    "ns a call": (((last - start) * 1e6) / calls).toFixed(0),
  };
}
