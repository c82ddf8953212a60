/**
 * `npm run bench -- rules`: what a look-up costs in few and in many rules, what wildcards cost, how long a load takes.
 * Each figure stands beside its baseline of the same run.
 */
import { runLoad } from "./load.ts";
import { runLookup } from "./lookup.ts";
import { runWildcards } from "./wildcards.ts";

const parts: Record<string, () => void> = { lookup: runLookup, wildcards: runWildcards, load: runLoad };

/** @param args any of `lookup`, `wildcards`, `load`; all of them without any */
export async function main(args: string[]): Promise<void> {
  for (const name of args.length > 0 ? args : Object.keys(parts)) {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`no part "${name}": choose from ${Object.keys(parts).join(", ")}`);
    console.log(`\nrules: ${name}`);
    part();
  }
}

if (import.meta.main) await main(process.argv.slice(2));
