/** A thread of `embedded-threads.test.ts`: counts on a shared store as it is told, and notes what it has counted. */
import { parentPort, workerData } from "node:worker_threads";
import { EmbeddedStore, type EmbeddedStoreShare } from "../../src/counters/embedded/embedded-store.ts";
import { makeCount, makeRequest } from "./conformance.ts";

export interface WorkerTask {
  readonly share: EmbeddedStoreShare;
  /** Opens for all threads at once. */
  readonly gate: Int32Array;
  /** Completed counts: of each key, then of the whole. */
  readonly done: Int32Array;
  readonly keys: number;
  /** Counts to make; 0 goes on until the thread is terminated. */
  readonly calls: number;
  readonly kind: "add" | "all-or-nothing" | "fresh";
  /** Of every counter, with `all-or-nothing`. */
  readonly limit: number;
  readonly name: string;
  readonly now: number;
}

const task = workerData as WorkerTask;
const store = EmbeddedStore.attach(task.share);
const windowStart = task.now / 1000;
const count = (stem: string, limit = 1e9) => makeCount({ stem, windowStart, windowSize: 3600, limit });

function addOne(call: number): void {
  const key = call % task.keys;
  store.count(makeRequest([count(`key${key}:`)], { now: task.now }));
  task.done[key]! += 1;
}

/** Two counters of the same set at once, in both orders. */
function addPair(call: number): void {
  const first = call % task.keys;
  const second = (call * 7 + 1) % task.keys;
  const counts = [count(`key${first}:`, task.limit), count(`key${second}:`, task.limit)];
  store.count(makeRequest(counts, { now: task.now, allOrNothing: true }));
  if (counts.every(({ outcome }) => outcome === 0)) {
    task.done[first]! += 1;
    task.done[second]! += 1;
  } else if (counts.some(({ outcome }) => outcome === 0)) throw new Error("half of a pair was counted");
}

/** A counter of its own, so that the table changes its shape all the time. */
function addFresh(call: number): void {
  store.count(makeRequest([count(`${task.name}|${call}:`)], { now: task.now }));
  task.done[0]! += 1;
}

const run = { add: addOne, "all-or-nothing": addPair, fresh: addFresh }[task.kind];
parentPort!.postMessage("ready");
Atomics.wait(task.gate, 0, 0);
for (let call = 0; task.calls === 0 || call < task.calls; call++) run(call);
