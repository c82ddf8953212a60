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
import { envoyTable } from "../envoy/main.ts";
import { agreementTable, joinRuns } from "../gateway/agreement.ts";
import { type GatewayResults, gatewayTable, LEADING, measureGateway } from "../gateway/main.ts";
import { containerTable } from "../memory/container.ts";
import { memoryTable } from "../memory/main.ts";
import { measureMemory } from "../memory/measure.ts";
import { measurePeers } from "../peers/main.ts";
import { reloadTable } from "../reload/main.ts";
import { pacedTable } from "../reload/paced.ts";
import { measureStages } from "../stages/main.ts";
import { table } from "../support/figures.ts";
import { environment, type Measurements, page } from "./document.ts";
import { connectionsSection, descriptorsSection, keysSection } from "./growth.ts";
import { limitsChapter } from "./limits.ts";
import { rulesSection } from "./rules.ts";
import type { Section } from "./section.ts";
import { plotSvg } from "./svg.ts";

/** The report needs more than half an hour. A program that is missing must not end it in the middle. */
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
  const gatewayRuns: GatewayResults[] = [];
  // The runs are minutes apart, so that they show how far the machine agrees with itself.
  const runGateway = async () => {
    gatewayRuns.push(await measureGateway(effort.rounds, isQuick ? 100_000 : 500_000));
    done("gateway");
  };
  await runGateway();
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
  await runGateway();
  const peers = await measurePeers(effort.rounds, isQuick ? 15_000 : 60_000);
  done("peers");
  await runGateway();
  const memory = await measureMemory();
  const container = await containerTable();
  done("memory");
  const rows = await measureBudgets({ ...effort, gatewayRuns, memory });
  done("budgets");
  const limits = await limitsChapter(isQuick ? 1 : 5);
  done("limits");
  const stages = await measureStages();
  done("stages");
  const reload = await reloadTable(isQuick ? ["1,000 rules"] : []);
  const paced = await pacedTable();
  done("reload");
  const envoy = await envoyTable(effort.rounds, isQuick ? 3000 : undefined);
  done("envoy");
  const allocations = table(["decision", "bytes"], Object.entries(measureAllocations()));
  const measured: Measurements = {
    where,
    isQuick,
    gateway: gatewayTable(joinRuns(gatewayRuns)),
    agreement: agreementTable(gatewayRuns, LEADING),
    budgets: budgetTable(rows),
    peers,
    sections,
    limits,
    stages,
    allocations,
    memory: memoryTable(memory),
    container,
    reload,
    paced,
    envoy,
  };
  mkdirSync(join(folder, "performance"), { recursive: true });
  for (const { name, plot } of sections)
    writeFileSync(join(folder, "performance", `${name}.svg`), plotSvg(plot));
  writeFileSync(join(folder, "performance.md"), page(measured));
  console.log(`written: ${join(folder, "performance.md")}`);
}
