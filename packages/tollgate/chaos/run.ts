/**
 * `npm run chaos`: injects faults into real stores under load. It stops, kills, delays, disconnects, fills and fails over
 * servers. It prints the results of the calls, and exits with 1 if a store broke a guarantee.
 *
 *   npm run chaos -- [--outage 3000] [--deadline 300] [--only <part of a name>]
 */
import { parseArgs } from "node:util";
import { scaled } from "../../../tools/time-scale.ts";
import { faults, printTable, type Result, run } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    outage: { type: "string", default: "3000" },
    deadline: { type: "string", default: String(scaled(300)) },
    only: { type: "string", default: "" },
  },
});
const results: Result[] = [];
for (const scenario of scenarios) {
  const name = `${scenario.store}: ${scenario.fault}`;
  if (!name.includes(values.only)) continue;
  const result = await run(scenario, {
    outageMs: Number(values.outage),
    deadline: Number(values.deadline),
    pause: 2,
  });
  const found = faults(result);
  console.error(
    `${name}: ${found.length === 0 ? "guarantees hold" : found.join("; ")}${result.errors && ` (${result.errors})`}`,
  );
  if (found.length > 0) process.exitCode = 1;
  results.push(result);
}
console.log(printTable(results));
