/**
 * `npm run bench -- ab FOLDER [--rounds=200] [--untraced]`: compares the path of a call in this checkout with another one.
 * Both run in this process and take turns every few milliseconds, so that the noise of the machine affects both alike.
 * For trying a change: copy the checkout with its `node_modules`, change the copy, and compare.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { leading } from "../gateway/workload.ts";
import { CALLS, Path } from "../quick/open-path.ts";
import { median } from "../support/figures.ts";

/** Reads of one turn: some 5 ms. */
const READS = 40;

export async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { rounds: { type: "string" }, untraced: { type: "boolean" } },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error("name the folder of the other checkout");
  const file = pathToFileURL(resolve(folder, "bench/quick/open-path.ts")).href;
  const other = (await import(file)) as { readonly Path: typeof Path };
  const workload = { ...leading, isTraced: !values.untraced };
  const paths = [new Path("tollgate", workload), new other.Path("tollgate", workload)];
  for (let turn = 0; turn < 100; turn++) for (const path of paths) path.answer(path.reads(READS));
  const measured: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds ?? 200); round++)
    // The second of two turns finds warmer caches.
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) measured[which]!.push(turnOf(paths[which]!));
  const ratios = measured[1].map((nanoseconds, round) => nanoseconds / measured[0][round]!);
  const us = (figures: number[]) => (median(figures) / 1000).toFixed(2);
  console.log(`here ${us(measured[0])} us, there ${us(measured[1])} us, ratio ${median(ratios).toFixed(3)}`);
  process.exit(0);
}

function turnOf(path: Path): number {
  const reads = path.reads(READS);
  const start = process.threadCpuUsage();
  path.answer(reads);
  const { user, system } = process.threadCpuUsage(start);
  return ((user + system) * 1000) / (READS * CALLS);
}
