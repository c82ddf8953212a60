/**
 * `npm run fuzz:service`: storms of arbitrary clients, over real sockets, against a whole service in its own process.
 * It plays the known attacks and the corpus first, and then arbitrary sessions, eight at once.
 *
 * It checks that calls within the limits are answered, that a neighbour's call takes at most 250 ms, that memory is
 * bounded, and that no connection, call, timer or descriptor is left afterwards.
 *
 *   npm run fuzz:service                    one minute
 *   npm run fuzz:service -- --minutes 120   longer
 *   npm run fuzz:service -- --seed 42       the rounds of this seed, which a failure prints
 *   npm run fuzz:service -- --only attacks  only the attacks and the corpus
 */
import { parseArgs } from "node:util";
import fc from "fast-check";
import { attacks } from "./attacks.ts";
import { keep, readCorpus } from "./corpus.ts";
import { hostileGrpcSessions, validGrpcSessions } from "./grpc-sessions.ts";
import { hostileHttpSessions, validHttpSessions } from "./http-sessions.ts";
import type { Session } from "./session.ts";
import { Storms } from "./storm.ts";

const SIDE_BY_SIDE = 8;
const STORMS_PER_ROUND = 50;
/** Limit on the time for shrinking a failure, which also plays storms. */
const SHRINK_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    only: { type: "string" },
  },
});
if (values.only !== undefined && values.only !== "attacks") {
  console.error(`--only must be "attacks", not ${JSON.stringify(values.only)}`);
  process.exit(2);
}

const sessions: fc.Arbitrary<Session> = fc.oneof(
  { weight: 3, arbitrary: hostileGrpcSessions },
  { weight: 3, arbitrary: validGrpcSessions },
  { weight: 1, arbitrary: hostileHttpSessions },
  { weight: 1, arbitrary: validHttpSessions },
);
const storms = fc.array(sessions, { minLength: 1, maxLength: SIDE_BY_SIDE });

await using service = await Storms.start();
let failed = false;

async function playKept(name: string, kept: readonly Session[]): Promise<void> {
  try {
    await service.play(kept);
    await service.checkLeftovers();
  } catch (error) {
    failed = true;
    console.error(`${name}: ${(error as Error).message}`);
  }
}

for (const [name, kept] of Object.entries(attacks)) await playKept(name, kept);
for (const { name, sessions: kept } of readCorpus()) await playKept(`corpus/${name}`, kept);

async function round(seed: number): Promise<boolean> {
  const result = await fc.check(
    fc.asyncProperty(storms, (storm) => service.play(storm)),
    {
      numRuns: STORMS_PER_ROUND,
      seed,
      interruptAfterTimeLimit: SHRINK_MS * 3,
      markInterruptAsFailure: false,
    },
  );
  if (!result.failed) return true;
  const [storm] = result.counterexample!;
  const file = keep(`seed-${seed}`, storm);
  console.error(`seed ${seed}: ${String(result.errorInstance)}\nThe sessions are in ${file}`);
  return false;
}

if (values.only === undefined && !failed) {
  const latest = performance.now() + Number(values.minutes) * 60_000;
  let seed = values.seed === undefined ? Math.floor(Math.random() * 0x7fffffff) : Number(values.seed);
  console.error(`first seed: ${seed}`);
  while (!failed && performance.now() < latest) failed = !(await round(seed++));
}
try {
  await service.checkLeftovers();
} catch (error) {
  failed = true;
  console.error((error as Error).message);
}
const MiB = 1024 * 1024;
const figures = await service.figures();
console.log(
  `${figures.storms} storms of ${figures.sessions} clients; the neighbour made ${figures.neighbourCalls} calls, ` +
    `the slowest took ${figures.worstNeighbourMs.toFixed(0)} ms; beyond the idle service: ` +
    `${(figures.heldBytes / MiB).toFixed(1)} MiB held, ${(figures.residentBytes / MiB).toFixed(1)} MiB resident at most`,
);
if (failed) process.exitCode = 1;
