/** A thread of `embedded-threads.test.ts`: counts on a shared store and reports its completed counts. */
import { parentPort, workerData } from "node:worker_threads";
import type { AlgorithmName } from "../../src/counters/algorithms/algorithm.ts";
import { EmbeddedStore, type EmbeddedStoreShare } from "../../src/counters/embedded/embedded-store.ts";
import { HoldBack, Outcome } from "../../src/counters/store.ts";
import { makeAcquire } from "./acquire-conformance.ts";
import { makeCount, makeRequest } from "./conformance.ts";
import { retried } from "./retried.ts";

export interface WorkerTask {
  readonly share: EmbeddedStoreShare;
  /** Starts all threads at once. */
  readonly gate: Int32Array;
  /** Completed counts: of each key, then in total. */
  readonly done: Int32Array;
  readonly keys: number;
  /** Number of counts; 0 counts until the thread is terminated. */
  readonly calls: number;
  readonly kind: "add" | "together" | "fresh" | "acquire" | "acquireList" | "acquireMoving";
  /** The limit of every counter, with `together`, `acquire` and `acquireList`. */
  readonly limit: number;
  /** The algorithm of the limits that `acquire` and `acquireList` take from. Default: a token bucket. */
  readonly algorithm?: AlgorithmName;
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

/** Counts two counters of the same set at once, in both orders. */
function addPair(call: number): void {
  const first = call % task.keys;
  const second = (call * 7 + 1) % task.keys;
  const counts = [count(`key${first}:`, task.limit), count(`key${second}:`, task.limit)];
  store.count(makeRequest(counts, { now: task.now, holdBack: HoldBack.WHEN_REFUSED }));
  const counted = counts.filter(({ outcome }) => outcome === Outcome.COUNTED);
  if (counted.length < 2 && (counted.length === 0 || counted[0]!.after <= task.limit))
    throw new Error("a count was held back, but the other count did not exceed its limit");
  if (counts[0]!.outcome === Outcome.COUNTED) task.done[first]! += 1;
  if (counts[1]!.outcome === Outcome.COUNTED) task.done[second]! += 1;
}

/** Creates a new counter, so that the table keeps changing. */
function addFresh(call: number): void {
  store.count(makeRequest([count(`${task.name}|${call}:`)], { now: task.now }));
  task.done[0]! += 1;
}

const bucket = (key: number) => ({
  stem: `bucket${key}:`,
  algorithm: task.algorithm ?? ("token_bucket" as const),
  limit: task.limit,
  windowSize: 86_400,
});

/** Takes one token. */
function acquire(call: number): void {
  const key = call % task.keys;
  const request = makeAcquire([{ limits: [bucket(key)] }], task.now);
  store.acquire(request);
  if (request.groups[0]!.accepted) task.done[key]! += 1;
}

/** Takes one token of two buckets at once, in both orders. */
function acquireList(call: number): void {
  const first = call % task.keys;
  const second = (call * 7 + 1) % task.keys;
  if (first === second) return;
  const request = makeAcquire([{ limits: [bucket(first), bucket(second)] }], task.now);
  store.acquire(request);
  if (!request.groups[0]!.accepted) return;
  task.done[first]! += 1;
  task.done[second]! += 1;
}

/** Takes tokens while time passes, so that the states move to new entries. */
function acquireMoving(call: number): void {
  const key = call % task.keys;
  const limit = { ...bucket(key), stem: `moving${key}:`, limit: 5, windowSize: 2 };
  store.acquire(makeAcquire([{ limits: [limit] }], task.now + call * 10));
  task.done[key]! += 1;
}

const run = { add: addOne, together: addPair, fresh: addFresh, acquire, acquireList, acquireMoving }[
  task.kind
];
parentPort!.postMessage("ready");
Atomics.wait(task.gate, 0, 0);
for (let call = 0; task.calls === 0 || call < task.calls; call++) retried(() => run(call));
