/**
 * `npm run bench -- counters`: what a count costs, what a counter weighs, and how long the store ever holds up its thread.
 *
 * Everything is a ratio, or stands beside its baseline of the same run: a `Map` of numbers, which is the least that a
 * counter in one thread can be (and neither bounded, nor shared, nor ever cleaned).
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

/** @param args any of the parts' names; all of them without any */
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
  // Each in a process of its own: what one leaves on the heap is collected in another's time.
  for (const name of names)
    spawnSync(process.execPath, ["--expose-gc", process.argv[1]!, "counters", name], { stdio: "inherit" });
}
