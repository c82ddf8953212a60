/**
 * `npm run fuzz:types`: random types and random values. No value that TypeScript refuses may be accepted.
 *
 *   npm run fuzz:types                     100,000 pairs
 *   npm run fuzz:types -- --pairs 1000000  more
 *   npm run fuzz:types -- --seed 42        the types and values of that seed
 */
import { parseArgs } from "node:util";
import { fuzzTypes } from "./type-fuzzer.ts";

const { values } = parseArgs({
  options: { pairs: { type: "string", default: "100000" }, seed: { type: "string" } },
});
const ROUND = 10_000;
let seed = Number(values.seed ?? Math.floor(Math.random() * 0x7fffffff));
let open = Number(values.pairs);
let failed = false;
while (open > 0) {
  const started = performance.now();
  const { pairs, types, readBySource, accepted, faults } = fuzzTypes(seed, Math.min(ROUND, open));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `seed ${seed}: ${pairs} pairs, ${accepted} accepted; ${types} types, ${readBySource} read without the compiler; ${faults.length} faults (${seconds} s)`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
  failed ||= faults.length > 0;
  open -= pairs;
  seed = (seed + 1) >>> 0;
}
process.exitCode = failed ? 1 : 0;
