/**
 * `npm run bench -- budgets [name ...] [--rounds=3] [--calls=200000]`: each budget of the service with its figure, what
 * to see it beside from the same run, and whether it is met. Medians of rounds, in which the servers take turns, each
 * alone in a process of its own on one core, the load on the others. A missed budget does not fail the run: figures
 * of a busy machine say little, see the baselines.
 */
import { parseArgs } from "node:util";
import { machine, table } from "../support/figures.ts";
import { startRedis } from "../support/redis.ts";
import type { Budget, Effort, Row } from "./budget.ts";
import { cpu, descriptors, manyConnections } from "./cpu.ts";
import { exactness } from "./exactness.ts";
import { json } from "./json.ts";
import { latency } from "./latency.ts";
import { metadata } from "./metadata.ts";
import { observing } from "./observing.ts";
import { start } from "./start.ts";
import { threads } from "./threads.ts";

const budgets: Record<string, Budget> = {
  cpu,
  connections: manyConnections,
  latency,
  descriptors,
  metadata,
  json,
  observing,
  threads,
  start,
  exactness,
};

export async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { rounds: { type: "string" }, calls: { type: "string" } },
  });
  const unknown = positionals.filter((name) => budgets[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`no such budget: ${unknown.join(", ")}; there are ${Object.keys(budgets).join(", ")}`);
  console.log(`${machine()}\n`);
  const effort = { rounds: Number(values.rounds ?? 3), calls: Number(values.calls ?? 200_000) };
  console.log(budgetTable(await measureBudgets(effort, positionals)));
}

/** Measures the budgets of these names, or all of them. */
export async function measureBudgets(
  effort: Omit<Effort, "redis">,
  names: readonly string[] = [],
): Promise<Row[]> {
  const redis = await startRedis();
  try {
    const rows: Row[] = [];
    for (const [name, budget] of Object.entries(budgets)) {
      if (names.length > 0 && !names.includes(name)) continue;
      rows.push(...(await budget({ ...effort, redis: redis.url })));
    }
    return rows;
  } finally {
    await redis.stop();
  }
}

/** The table, and why what is missed is missed. */
export function budgetTable(rows: readonly Row[]): string {
  const reasons = [...new Set(rows.filter(({ met }) => !met).map(({ reason }) => reason))]
    .filter((reason) => reason !== undefined)
    .map((reason) => {
      const about = rows.filter((row) => !row.met && row.reason === reason).map(({ budget }) => budget);
      return `- *${about.join("*; *")}*: ${reason}`;
    });
  const shown = budgetRows(rows);
  return reasons.length === 0 ? shown : `${shown}\n\nWhat is missed, and why:\n\n${reasons.join("\n")}`;
}

function budgetRows(rows: readonly Row[]): string {
  return table(
    ["budget", "figure", "beside, in the same run", ""],
    rows.map(({ budget, figure, baseline, met }) => [budget, figure, baseline, met ? "met" : "**missed**"]),
  );
}
