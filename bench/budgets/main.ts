/**
 * `npm run bench -- budgets [name ...] [--rounds=3] [--calls=200000]`: prints each budget of the service with its figure,
 * a baseline from the same run and the result. The figures are medians of rounds. In a round, the servers run one after
 * the other, each in a separate process on one core, with the load on the other cores. A missed budget does not fail the
 * run, because figures from a busy machine are unreliable; compare the baselines.
 */
import { parseArgs } from "node:util";
import { machine, table } from "../support/figures.ts";
import { startRedis } from "../support/redis.ts";
import type { Budget, Effort, Row } from "./budget.ts";
import { cpu, descriptors, manyConnections } from "./cpu.ts";
import { exactness } from "./exactness.ts";
import { gatewayCalls } from "./gateway.ts";
import { json } from "./json.ts";
import { latency } from "./latency.ts";
import { memory } from "./memory.ts";
import { metadata } from "./metadata.ts";
import { observing } from "./observing.ts";
import { start } from "./start.ts";
import { threads } from "./threads.ts";

const budgets: Record<string, Budget> = {
  gateway: gatewayCalls,
  cpu,
  connections: manyConnections,
  latency,
  descriptors,
  metadata,
  json,
  observing,
  threads,
  start,
  memory,
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
    throw new Error(
      `unknown budget: ${unknown.join(", ")}; the budgets are ${Object.keys(budgets).join(", ")}`,
    );
  console.log(`${machine()}\n`);
  const effort = { rounds: Number(values.rounds ?? 3), calls: Number(values.calls ?? 200_000) };
  console.log(budgetTable(await measureBudgets(effort, positionals)));
}

/** Measures the named budgets, or all budgets without names. */
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

/** Formats the table and the reasons for missed budgets. */
export function budgetTable(rows: readonly Row[]): string {
  const reasons = [...new Set(rows.filter(({ met }) => !met).map(({ reason }) => reason))]
    .filter((reason) => reason !== undefined)
    .map((reason) => {
      const about = rows.filter((row) => !row.met && row.reason === reason).map(({ budget }) => budget);
      return `- *${about.join("*; *")}*: ${reason}`;
    });
  const shown = budgetRows(rows);
  return reasons.length === 0 ? shown : `${shown}\n\nReasons for missed budgets:\n\n${reasons.join("\n")}`;
}

function budgetRows(rows: readonly Row[]): string {
  return table(
    ["budget", "figure", "baseline of the same run", "result"],
    rows.map(({ budget, figure, baseline, met }) => [budget, figure, baseline, met ? "met" : "**missed**"]),
  );
}
