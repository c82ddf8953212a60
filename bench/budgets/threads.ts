import { availableParallelism } from "node:os";
import { message } from "../support/decision.ts";
import { tollgate } from "../support/peers.ts";
import { loadCores } from "../support/process.ts";
import { KEY_PLACE, type RawMeasured, rawLoad } from "../support/raw-load.ts";
import { type Budget, gateway, type Row } from "./budget.ts";
import { medians } from "./compare.ts";

/** Number of counters that the calls use in turn. */
const MANY = 1000;
const cases = [
  { keys: MANY, shown: `${MANY.toLocaleString("en")} counters in turn` },
  { keys: 1, shown: "all calls on one counter" },
] as const;

/**
 * Compares two threads to one under a saturating load. With a slower load, the CPU of a process depends on how often it
 * sleeps. With fewer than four cores, the load generator competes with the threads for CPU.
 */
export const threads: Budget = async (effort) => {
  const hasSpareCores = availableParallelism() >= 4;
  const contenders = Object.fromEntries(
    cases.flatMap(({ keys }) =>
      (["1", "2"] as const).map((workers) => [
        `${workers} of ${keys}`,
        { start: tollgate({ WORKERS: workers }, "0,1"), keys },
      ]),
    ),
  );
  const bytes = message(`path=/api/a,remote_address=${KEY_PLACE}`);
  // Long rounds, because each thread compiles its own code.
  const calls = 8 * effort.calls;
  const measured = await medians(contenders, Math.max(7, effort.rounds), ({ server, url }, { keys }) => {
    rawLoad(server.pid, url, { ...gateway, message: bytes, keys, calls: calls / 2 });
    return rawLoad(server.pid, url, { ...gateway, message: bytes, keys, calls });
  });
  return cases.flatMap(({ keys, shown }) => {
    const [one, two] = [measured.get(`1 of ${keys}`)!, measured.get(`2 of ${keys}`)!];
    return [cpuRow(shown, one, two, keys), ...(hasSpareCores ? [growthRow(shown, one, two)] : [])];
  });
};

function cpuRow(shown: string, one: RawMeasured, two: RawMeasured, keys: number): Row {
  const times = two.cpuMicroseconds / one.cpuMicroseconds;
  return {
    budget: `WORKERS=2, ${shown}: CPU per decision at most 1.1 times that of WORKERS=1`,
    figure: `${times.toFixed(2)} times (${two.cpuMicroseconds.toFixed(2)} us)`,
    baseline: `one: ${one.cpuMicroseconds.toFixed(2)} us; load on core ${loadCores}`,
    met: times <= 1.1,
    reason: keys === 1 ? `${hotReason} ${coresReason}` : coresReason,
  };
}

function growthRow(shown: string, one: RawMeasured, two: RawMeasured): Row {
  const growth = two.perSecond / one.perSecond;
  return {
    budget: `WORKERS=2, ${shown}: at least 1.8 times the decisions per second`,
    figure: `${growth.toFixed(2)} times`,
    baseline: `one: ${Math.round(one.perSecond)}/s`,
    met: growth >= 1.8,
  };
}

const coresReason =
  "With fewer than four cores, the load competes with the threads for cores and caches. Two reports of one day had 1.07 and 1.12 times with many counters, 1.06 and 1.13 with one. Next: a machine with four cores.";
const hotReason =
  "A counter that two cores update moves between their caches, and so does the lock of its shard. That takes about 0.06 us per decision and does not occur with many counters. [The hot path](decisions/hot-path.md#rejected) says why the lock is not in the counter's cache line.";
