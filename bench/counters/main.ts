/**
 * `npm run bench -- counters`: time of a count, memory of a counter, and the longest pause of a thread.
 *
 * All figures are ratios, or have a baseline of the same run: a `Map` of numbers, the simplest possible counter for one
 * thread (neither bounded, nor shared, nor cleaned).
 */
import { spawnSync } from "node:child_process";
import { runAlternatives } from "./alternatives.ts";
import { runMemory } from "./memory.ts";
import { runPauses } from "./pauses.ts";
import { runSpeed } from "./speed.ts";
import { runThreads } from "./threads.ts";

const parts: Record<string, () => void | Promise<void>> = {
  speed: runSpeed,
  memory: runMemory,
  pauses: runPauses,
  threads: runThreads,
  alternatives: runAlternatives,
};

/** @param args names of parts. Default: all parts. */
export async function main(args: string[]): Promise<void> {
  const names = args.length > 0 ? args : Object.keys(parts);
  const unknown = names.find((name) => !(name in parts));
  if (unknown !== undefined)
    throw new Error(`no part "${unknown}": choose from ${Object.keys(parts).join(", ")}`);
  const [first, ...others] = names;
  if (others.length === 0) {
    console.log(`\ncounters: ${first}`);
    await parts[first!]!();
    return;
  }
  // Each part in its own process: garbage of one part must not slow another.
  for (const name of names)
    spawnSync(process.execPath, ["--expose-gc", process.argv[1]!, "counters", name], { stdio: "inherit" });
}
