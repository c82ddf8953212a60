import { parentPort, workerData } from "node:worker_threads";
import { EmbeddedStore } from "../../packages/tollgate/src/counters/embedded/embedded-store.ts";
import { countOf, requestOf, stemOf } from "./workload.ts";

const { share, gate, keys, from, calls } = workerData;
const store = EmbeddedStore.attach(share);
const requests = Array.from({ length: keys }, (_, index) => requestOf([countOf(stemOf(from + index))]));

function run(count: number): void {
  for (let call = 0; call < count; call++) store.count(requests[call % keys]!);
}

parentPort!.postMessage("ready");
Atomics.wait(gate, 0, 0);
// Processor time of this thread, including spinning for locks. A busy machine changes wall time only.
const start = process.threadCpuUsage();
run(calls);
const { user, system } = process.threadCpuUsage(start);
parentPort!.postMessage((user + system) / 1000);
// Keeps the thread alive until the main thread has read the message and terminates it.
parentPort!.on("message", () => {});
