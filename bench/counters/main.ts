/**
 * `npm run bench -- counters`: what a count costs, what a counter weighs, and how long the store ever holds up its thread.
 *
 * Everything is a ratio, or stands beside its baseline of the same run: a `Map` of numbers, which is the least that a
 * counter in one thread can be (and neither bounded, nor shared, nor ever cleaned).
 */
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
  for (const name of args.length > 0 ? args : Object.keys(parts)) {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`no bench "${name}": choose from ${Object.keys(parts).join(", ")}`);
    console.log(`\ncounters: ${name}`);
    await part();
  }
}
