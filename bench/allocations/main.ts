/**
 * `npm run bench -- allocations [--record]`: measures the bytes that a decision allocates, from the bytes of a request to
 * the bytes of its response. Unlike time, the figures are the same on every machine and under any load. Fails (exit
 * status 1) if a figure is more than 10 % above the one in `recorded.json`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../support/figures.ts";

const recordedFile = join(import.meta.dirname, "recorded.json");
const ALLOWED_GROWTH = 1.1;

/** Measures the bytes per kind of decision. */
export function measureAllocations(): Record<string, number> {
  // The young generation is so large that no garbage collection runs during the measurement.
  const flags = ["--expose-gc", "--max-semi-space-size=512", "--min-semi-space-size=512"];
  const output = execFileSync(process.execPath, [...flags, join(import.meta.dirname, "measure.ts")], {
    encoding: "utf8",
  });
  return JSON.parse(output) as Record<string, number>;
}

/** The smallest figures of three measurements. On a busy machine V8 may optimize a function only during the measurement. */
function leastAllocations(): Record<string, number> {
  const all = [measureAllocations(), measureAllocations(), measureAllocations()];
  return Object.fromEntries(
    Object.keys(all[0]!).map((name) => [name, Math.min(...all.map((figures) => figures[name]!))]),
  );
}

export async function main(args: string[]): Promise<void> {
  const measured = leastAllocations();
  if (args.includes("--record")) {
    writeFileSync(recordedFile, `${JSON.stringify(measured, null, 2)}\n`);
  }
  const recorded = JSON.parse(readFileSync(recordedFile, "utf8")) as Record<string, number>;
  const rows = Object.entries(measured).map(([name, bytes]) => {
    const before = recorded[name] ?? Number.NaN;
    const grown = bytes > before * ALLOWED_GROWTH + 8;
    return {
      grown: grown || Number.isNaN(before),
      row: [name, bytes.toFixed(0), before.toFixed(0), grown ? "GROWN" : "ok"],
    };
  });
  console.log(
    table(
      ["decision", "bytes", "recorded", ""],
      rows.map(({ row }) => row),
    ),
  );
  if (rows.some(({ grown }) => grown)) {
    console.error(
      "a decision allocates over 10 % more than recorded; to accept the new figures: npm run bench -- allocations --record",
    );
    process.exitCode = 1;
  }
}
