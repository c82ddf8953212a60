/**
 * `npm run bench -- NAME [arguments]`: runs one benchmark. Each is a folder here with a `main.ts` that exports
 * `main(args)`; without a name the benchmarks are listed. Figures are ratios or have their baseline beside them
 * from the same run: a machine's own speed says nothing.
 */
import { globSync } from "node:fs";
import { basename, dirname } from "node:path";

interface Benchmark {
  main(args: string[]): Promise<void>;
}

const folder = import.meta.dirname;
const names = globSync("*/main.ts", { cwd: folder })
  .map((file) => basename(dirname(`/${file}`)))
  .sort();
const [name, ...args] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`there is no benchmark "${name}"`);
  console.error(`usage: npm run bench -- NAME [arguments]\nbenchmarks: ${names.join(", ")}`);
  process.exit(name === undefined ? 0 : 2);
}
const benchmark: Benchmark = await import(`./${name}/main.ts`);
await benchmark.main(args);
