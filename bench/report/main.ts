/**
 * `npm run bench -- report [--quick] [--out=docs]`: measures everything and writes `docs/performance.md` with its plots.
 * `--quick` makes fewer rounds and calls; only a full run should be committed. `PEER_GO_SERVICE` with the path of the Go
 * service's binary includes that service.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureAllocations } from "../allocations/main.ts";
import { budgetTable, measureBudgets } from "../budgets/main.ts";
import { gatewayTable, measureGateway } from "../gateway/main.ts";
import { measurePeers } from "../peers/main.ts";
import { measureStages } from "../stages/main.ts";
import { table } from "../support/figures.ts";
import { environment, type Measurements, page } from "./document.ts";
import { connectionsSection, descriptorsSection, keysSection } from "./growth.ts";
import { limitsChapter } from "./limits.ts";
import { rulesSection } from "./rules.ts";
import type { Section } from "./section.ts";
import { plotSvg } from "./svg.ts";

/** The report needs half an hour. A program that is missing must not end it in the middle. */
const programs = ["h2load", "wrk", "redis-server", "taskset"];
const docs = join(import.meta.dirname, "..", "..", "docs");

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { quick: { type: "boolean" }, out: { type: "string" } },
  });
  const missing = programs.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
  if (missing.length > 0)
    throw new Error(`the report needs programs that are not installed: ${missing.join(", ")}`);
  const isQuick = values.quick ?? false;
  const folder = values.out ?? docs;
  const effort = { rounds: isQuick ? 1 : 3, calls: isQuick ? 50_000 : 120_000, redis: "" };
  const from = performance.now();
  const done = (what: string) => console.log(`${what} (${((performance.now() - from) / 1000).toFixed(0)} s)`);
  const where = environment();
  const sections: Section[] = [];
  for (const [name, measure] of [
    ["rules", async () => rulesSection(effort.rounds, isQuick)],
    ["keys", () => keysSection(effort, isQuick)],
    ["connections", () => connectionsSection(effort, isQuick)],
    ["descriptors", () => descriptorsSection(effort, isQuick)],
  ] as const) {
    sections.push(await measure());
    done(name);
  }
  const gateway = gatewayTable(await measureGateway(effort.rounds, isQuick ? 30_000 : 200_000));
  done("gateway");
  const peers = await measurePeers(effort.rounds, isQuick ? 15_000 : 60_000);
  done("peers");
  const rows = await measureBudgets(effort);
  done("budgets");
  const limits = await limitsChapter(isQuick ? 1 : 5);
  done("limits");
  const stages = await measureStages();
  done("stages");
  const allocations = table(["decision", "bytes"], Object.entries(measureAllocations()));
  const measured: Measurements = {
    where,
    isQuick,
    gateway,
    budgets: budgetTable(rows),
    peers,
    sections,
    limits,
    stages,
    allocations,
  };
  mkdirSync(join(folder, "performance"), { recursive: true });
  for (const { name, plot } of sections)
    writeFileSync(join(folder, "performance", `${name}.svg`), plotSvg(plot));
  writeFileSync(join(folder, "performance.md"), page(measured));
  console.log(`written: ${join(folder, "performance.md")}`);
}
