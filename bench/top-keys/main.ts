/**
 * `npm run bench -- top-keys [--rounds=180] [--untraced]`: what top keys cost a call. A server that counts them and one that does not
 * answer the same calls in one process, and take turns every few milliseconds, so that the noise of the machine affects
 * both alike. A ratio of 1.03 is 3 %.
 */
import { parseArgs } from "node:util";
import { leading, type Workload } from "../gateway/workload.ts";
import { CALLS, Path, type Variant } from "../quick/open-path.ts";
import { machine, median, table } from "../support/figures.ts";

/** Reads of one turn: some 5 ms. */
const READS = 40;
/** Some systems count CPU in steps of 4 ms, so only sums over many turns can be compared. */
const GROUPS = 9;

const workloads: Readonly<Record<string, Workload>> = {
  "100,000 addresses and 1,000 tenants, Zipf": leading,
  "1,000,000 addresses, each equally often": { ...leading, choice: "uniform", addresses: 1_000_000 },
  "1,000,000 addresses in turn": { ...leading, choice: "turn", addresses: 1_000_000 },
  "100 addresses, Zipf": { ...leading, addresses: 100 },
};

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string" }, untraced: { type: "boolean" } },
  });
  const rounds = Number(values.rounds ?? 180);
  console.log(`${machine()}\n`);
  const rows = Object.entries(workloads).map(([name, workload]) => {
    const isTraced = !values.untraced;
    const off = compare({ ...workload, isTraced }, ["tollgate", "tollgate"], rounds);
    const on = compare({ ...workload, isTraced }, ["tollgate", "observed"], rounds);
    return [name, `${on.us.toFixed(2)} us`, on.ratio.toFixed(3), off.ratio.toFixed(3)];
  });
  console.log(table(["calls", "off", "on / off", "off / off"], rows));
  process.exit(0);
}

/** @returns the CPU of a call of the first variant, and the ratio of the second to the first */
function compare(
  workload: Workload,
  variants: readonly Variant[],
  rounds: number,
): { us: number; ratio: number } {
  const paths = variants.map((variant) => new Path(variant, workload));
  for (let turn = 0; turn < 100; turn++) for (const path of paths) path.answer(path.reads(READS));
  const groups = Array.from({ length: GROUPS }, () => {
    const sums: [number, number] = [0, 0];
    for (let round = 0; round < rounds / GROUPS; round++)
      // The second of two turns finds warmer caches.
      for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) sums[which as 0 | 1] += turnOf(paths[which]!);
    return sums;
  });
  return {
    us: median(groups.map(([first]) => first)) / (rounds / GROUPS),
    ratio: median(groups.map(([first, second]) => second / first)),
  };
}

/** Microseconds of CPU for each call. */
function turnOf(path: Path): number {
  const reads = path.reads(READS);
  const start = process.threadCpuUsage();
  path.answer(reads);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / (READS * CALLS);
}
