import {
  cpuOf,
  EMBEDDED,
  EMPTY,
  type GatewayResults,
  GO,
  LEADING,
  measureGateway,
  REDIS,
} from "../gateway/main.ts";
import { leading, type Workload } from "../gateway/workload.ts";
import { measurePath } from "../quick/path.ts";
import { interleaved, median } from "../support/figures.ts";
import type { Budget, Row } from "./budget.ts";

const embeddedReason =
  "The embedded counters take 24 %, of which 12 % wait for memory, HPACK 18 %, of which 7 % are the Huffman code of the trace, the decision 19 %, gRPC and HTTP/2 15 %, the rules 7 %, the messages 5 %, the kernel 5 %, Node around reads and writes 4 %, V8's threads and garbage collection 3 %. [The hot path](decisions/hot-path.md) has the profile and the optimizations.";
const redisReason =
  "The profile is flat: the kernel takes 12 %, HPACK 11 %, the writing of a batch's commands 10 %, its search for equal keys and its answers 9 %, V8's threads 3 to 12 %. A batch waits for memory that left the processor's cache while Redis answered. [The hot path](decisions/hot-path.md) has what each optimization saves.";

/** The calls of a gateway: CPU beside an empty handler and the Go service, and the growth with live keys. */
export const gatewayCalls: Budget = async ({ rounds, calls, gatewayRuns }) => {
  const runs = gatewayRuns ?? [
    await measureGateway(rounds, 4 * calls, [EMPTY, EMBEDDED, REDIS, GO], { [LEADING]: leading }),
  ];
  return [...gatewayRows(runs), await liveKeys(rounds)];
};

/** The rows of one or several runs. A budget is met if every run meets it. */
function gatewayRows(runs: readonly GatewayResults[]): Row[] {
  const cpu = (name: string) => runs.map((run) => cpuOf(run, name, LEADING)!);
  const [empty, embedded, redis] = [cpu(EMPTY), cpu(EMBEDDED), cpu(REDIS)];
  const times = (above: readonly number[], below: readonly number[], digits = 2) =>
    above.map((value, run) => (value / below[run]!).toFixed(digits)).join(", ");
  const microseconds = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(", ");
  const baseline = `empty handler on grpc-wire ${microseconds(empty)} us`;
  const rows: Row[] = [
    {
      budget: "gateway's calls, embedded: at most 2.5 us of CPU, or 2.2 times an empty handler",
      figure: `${microseconds(embedded)} us; ${times(embedded, empty)} times`,
      baseline,
      met: runs.every((_, run) => embedded[run]! <= 2.5 || embedded[run]! <= 2.2 * empty[run]!),
      reason: embeddedReason,
    },
    {
      budget: "gateway's calls, over Redis: at most 4 us of CPU",
      figure: `${microseconds(redis)} us; ${times(redis, empty)} times an empty handler`,
      baseline,
      met: redis.every((value) => value <= 4),
      reason: redisReason,
    },
  ];
  if (runs.every((run) => cpuOf(run, GO, LEADING) !== undefined)) {
    const go = cpu(GO);
    rows.push({
      budget: "gateway's calls, over Redis: at least 12 times less CPU than the Go service",
      figure: `${times(go, redis, 1)} times`,
      baseline: `the Go service ${microseconds(go)} us`,
      met: go.every((value, run) => value >= 12 * redis[run]!),
      reason: redisReason,
    });
  }
  return rows;
}

async function liveKeys(rounds: number): Promise<Row> {
  const inTurn = (addresses: number): Workload => ({ ...leading, choice: "turn", addresses });
  const measured = await interleaved(["1000", "1000000"], rounds, async (keys) =>
    measurePath("tollgate", inTurn(Number(keys))),
  );
  const of = (keys: string) => median(measured.get(keys)!.map(({ nanoseconds }) => nanoseconds)) / 1000;
  const [few, many] = [of("1000"), of("1000000")];
  return {
    budget: "1,000,000 live keys in turn: at most 1.8 times the CPU of 1,000, in one process",
    figure: `${(many / few).toFixed(2)} times (${many.toFixed(2)} us)`,
    baseline: `1,000 keys: ${few.toFixed(2)} us`,
    met: many <= 1.8 * few,
  };
}
