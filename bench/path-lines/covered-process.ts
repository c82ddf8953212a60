/**
 * Answers calls of a gateway from the path of a checkout, and prints which lines of its modules ran, as JSON. Its arguments
 * are the folder of the checkout and the variant of the path.
 */
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { leading } from "../gateway/workload.ts";
import type { CALLS, Path, Variant } from "../quick/open-path.ts";
import { withoutComments } from "./code-lines.ts";

/** Calls before the measured ones, which open connections and fill tables. */
const WARM_UP = 5000;
const MEASURED = 1000;
/** Fewer runs are a timer's. Each of the 20 reads runs the lines of a read once. */
const LEAST_RUNS = 10;

const [, , folder = "", variant] = process.argv;
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const opened: { Path: typeof Path; CALLS: typeof CALLS } = await import(
  pathToFileURL(join(folder, "bench/quick/open-path.ts")).href
);
const path = new opened.Path(variant as Variant, leading);
await answer(WARM_UP);
const measured = path.reads(MEASURED / opened.CALLS);
// Taking the coverage sets all counts to 0.
await session.post("Profiler.takePreciseCoverage");
if (variant === "redis") await path.answerLater(measured);
else path.answer(measured);
const { result } = await session.post("Profiler.takePreciseCoverage");
const packages = pathToFileURL(join(folder, "packages/")).href;
const lines: Record<string, number[]> = {};
for (const { url, functions } of result) {
  if (!url.startsWith(packages)) continue;
  const run = linesThatRan(fileURLToPath(url), functions);
  if (run.length > 0) lines[url.slice(packages.length)] = run;
}
console.log(JSON.stringify(lines));
process.exit(0);

async function answer(calls: number): Promise<void> {
  const reads = path.reads(calls / opened.CALLS);
  if (variant === "redis") await path.answerLater(reads);
  else path.answer(reads);
}

/**
 * Returns the numbers of a module's lines with code that ran. The ranges of a function are nested, and the innermost range of a
 * position has its count (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-CoverageRange).
 */
function linesThatRan(
  file: string,
  functions: readonly {
    functionName: string;
    ranges: { startOffset: number; endOffset: number; count: number }[];
  }[],
): number[] {
  const text = withoutComments(file);
  const counts = new Uint32Array(text.length);
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  const numbers: number[] = [];
  let start = 0;
  for (const [number, line] of text.split("\n").entries()) {
    for (let at = 0; at < line.length; at++)
      if (line[at] !== " " && counts[start + at]! >= LEAST_RUNS) {
        numbers.push(number);
        break;
      }
    start += line.length + 1;
  }
  return numbers;
}
