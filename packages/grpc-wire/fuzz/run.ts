/**
 * `npm run fuzz`: tries the properties of `properties.ts` for long.
 *
 *   npm run fuzz                    10 minutes
 *   npm run fuzz -- --minutes 60    longer
 *   npm run fuzz -- --seed 42       one round with that seed, as a failure named it
 */
import { parseArgs } from "node:util";
import { properties } from "./properties.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string" } },
});
const ROUND = 2000;

async function round(seed: number): Promise<void> {
  for (const { name, check } of properties) {
    const started = performance.now();
    await check({ numRuns: ROUND, seed });
    console.log(`seed ${seed}: ${ROUND} x ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }
}

if (values.seed !== undefined) await round(Number(values.seed));
else {
  const until = Date.now() + Number(values.minutes) * 60_000;
  while (Date.now() < until) await round(Math.floor(Math.random() * 0x7fffffff));
}
