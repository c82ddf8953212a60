/**
 * `npm run bench -- rules`: the cost of lookups in few and in many rules, of wildcards and of loads.
 * Each figure has a baseline of the same run.
 */
import { runLoad } from "./load.ts";
import { runLookup } from "./lookup.ts";
import { runWildcards } from "./wildcards.ts";

const parts: Record<string, () => void> = { lookup: runLookup, wildcards: runWildcards, load: runLoad };

/** @param args any of `lookup`, `wildcards`, `load`. Default: all. */
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
