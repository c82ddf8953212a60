/**
 * `npm run bench -- ab FOLDER [--rounds=60] [--untraced] [--redis]`: compares the path of a call in this checkout with another one.
 * Both run in this process and take short turns, so that the noise of the machine affects both alike.
 * For trying a change: copy the checkout with its `node_modules`, change the copy, and compare.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { leading } from "../gateway/workload.ts";
import { CALLS, Path } from "../quick/open-path.ts";
import { threadMicroseconds } from "../support/cpu-time.ts";
import { median } from "../support/figures.ts";
import { startRedis } from "../support/redis.ts";

/** Reads of one turn: some 50 ms. Linux counts the CPU of a running thread in steps of up to 4 ms. */
const READS = 400;

export async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { rounds: { type: "string" }, untraced: { type: "boolean" }, redis: { type: "boolean" } },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error("name the folder of the other checkout");
  const file = pathToFileURL(resolve(folder, "bench/quick/open-path.ts")).href;
  const other = (await import(file)) as { readonly Path: typeof Path };
  const workload = { ...leading, isTraced: !values.untraced };
  const redis = values.redis ? await startRedis() : undefined;
  if (redis !== undefined) process.env.BENCH_REDIS = redis.url;
  const variant = redis === undefined ? "tollgate" : "redis";
  const paths = [new Path(variant, workload), new other.Path(variant, workload)];
  const turn = async (path: Path) => {
    const reads = path.reads(READS);
    const start = threadMicroseconds();
    if (redis === undefined) path.answer(reads);
    else await path.answerLater(reads);
    return ((threadMicroseconds() - start) * 1000) / (reads.length * CALLS);
  };
  const measured: [number[], number[]] = [[], []];
  const rounds = Number(values.rounds ?? 60);
  for (let round = -Math.ceil(rounds / 4); round < rounds; round++)
    // The second of two turns finds warmer caches.
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const nanoseconds = await turn(paths[which]!);
      // The first turns are for the compiler.
      if (round >= 0) measured[which]!.push(nanoseconds);
    }
  const ratios = measured[1].map((nanoseconds, round) => nanoseconds / measured[0][round]!);
  const us = (figures: number[]) => (median(figures) / 1000).toFixed(2);
  console.log(`here ${us(measured[0])} us, there ${us(measured[1])} us, ratio ${median(ratios).toFixed(3)}`);
  await redis?.stop();
  process.exit(0);
}
