/**
 * Reads the name of a variant and a workload as JSON from its arguments, and prints the nanoseconds of CPU and the bytes
 * of heap of each call.
 */
import type { Workload } from "../gateway/workload.ts";
import { median } from "../support/figures.ts";
import { CALLS, Path, type Variant } from "./open-path.ts";

/** Reads of one round. */
const READS = 400;
const ROUNDS = 11;

const workload = JSON.parse(process.argv[3]!) as Workload;
const path = new Path(process.argv[2] as Variant, workload);
const nanoseconds: number[] = [];
let bytes = 0;
/** So many calls that each live key occurs, and at least enough for the compiler. */
const warmUp = Math.max(200_000, workload.choice === "turn" ? workload.addresses : 0);
for (let call = 0; call < warmUp; call += CALLS * READS) path.answer(path.reads(READS));
for (let round = 0; round < ROUNDS; round++) {
  const reads = path.reads(READS);
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const start = process.threadCpuUsage();
  path.answer(reads);
  const { user, system } = process.threadCpuUsage(start);
  nanoseconds.push(((user + system) * 1000) / (READS * CALLS));
  bytes = (process.memoryUsage().heapUsed - heap) / (READS * CALLS);
}
if (path.written < warmUp * 20) throw new Error("the server did not answer");
console.log(JSON.stringify({ nanoseconds: median(nanoseconds), bytes }));
process.exit(0);
