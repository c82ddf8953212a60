/**
 * `npm run bench -- NAME [arguments]`: runs one benchmark. Lists the benchmarks without a name. Each benchmark is a
 * folder with a `main.ts` that exports `main(args)`. Figures are ratios, or have a baseline from the same run: absolute
 * figures depend on the machine.
 */
import { globSync } from "node:fs";
import { basename, dirname } from "node:path";
import { installPeers } from "./support/installed-peers.ts";

interface Benchmark {
  main(args: string[]): Promise<void>;
}

const folder = import.meta.dirname;
/** Benchmarks that load packages of `bench/package.json`. */
const withPeers: readonly string[] = [
  "client-types",
  "envoy",
  "gateway",
  "kvstore",
  "peers",
  "quick",
  "report",
  "waymark",
];
const names = globSync("*/main.ts", { cwd: folder })
  .map((file) => basename(dirname(`/${file}`)))
  .sort();
const [name, ...args] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`unknown benchmark "${name}"`);
  console.error(`usage: npm run bench -- NAME [arguments]\nbenchmarks: ${names.join(", ")}`);
  process.exit(name === undefined ? 0 : 2);
}
if (withPeers.includes(name)) installPeers();
const benchmark: Benchmark = await import(`./${name}/main.ts`);
await benchmark.main(args);
