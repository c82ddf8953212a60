/**
 * `npm run bench -- gateway [--rounds=5] [--calls=500000] [--only=NAME;...]`: the CPU of a call as a gateway sends it.
 *
 * 4 connections of 100 streams each. The header blocks are those of Envoy 1.40, byte for byte. Each call has two
 * descriptors: a path (by wildcard) with a client address, and a tenant. The servers take turns on one core in one run:
 *
 * - an empty handler on grpc-wire: the cost of a call without a decision
 * - Tollgate with embedded counters and with Redis
 * - the Go service with Redis, without and with its pipeline window, if `PEER_GO_SERVICE` has the path of its binary
 * - Limitador (Rust) with its counters in memory and in Redis, if `PEER_LIMITADOR` has the path of its binary
 * - a Node service of common libraries: grpc-js and rate-limiter-flexible with Redis
 */
import { parseArgs } from "node:util";
import { interleaved, machine, median, spread, table } from "../support/figures.ts";
import {
  goBinary,
  goService,
  limitador,
  limitadorBinary,
  nodePeer,
  onPeer,
  type StartPeer,
  tollgate,
} from "../support/peers.ts";
import { startRedis } from "../support/redis.ts";
import { gatewayLoad, type Served } from "./load.ts";
import { leading, type Workload } from "./workload.ts";

export const EMPTY = "empty handler on grpc-wire";
export const EMBEDDED = "Tollgate, embedded";
export const REDIS = "Tollgate, Redis";
export const GO = "Go service, Redis";

/** The shape of a gateway's load. */
export const shape = { connections: 4, streams: 100 };

/** The name of the leading workload. */
export const LEADING = "Zipf, traced";

export const workloads: Readonly<Record<string, Workload>> = {
  [LEADING]: leading,
  "Zipf, not traced": { ...leading, isTraced: false },
  "1,000,000 addresses, traced": { ...leading, choice: "uniform", addresses: 1_000_000 },
};

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string" }, calls: { type: "string" }, only: { type: "string" } },
  });
  const rounds = Number(values.rounds ?? 5);
  console.log(
    `${machine()}; one core per server, the load and Redis on the others; medians of ${rounds} rounds\n`,
  );
  const only = values.only?.split(";");
  const measured = await measureGateway(rounds, Number(values.calls ?? 500_000), only);
  console.log(gatewayTable(measured));
  if (goBinary === undefined)
    console.log("\nthe Go service was not measured: set PEER_GO_SERVICE to the path of its binary");
  if (limitadorBinary === undefined)
    console.log("\nLimitador was not measured: set PEER_LIMITADOR to the path of its binary");
}

/** The peers, by name. */
export function gatewayPeers(redis: string): Record<string, StartPeer> {
  return {
    [EMPTY]: nodePeer("budgets/servers/empty-wire.ts"),
    [EMBEDDED]: tollgate(),
    [REDIS]: tollgate({ KVSTORE_URL: redis }),
    ...(goBinary !== undefined && {
      [GO]: goService(goBinary, redis),
      [`${GO}, pipeline window of 150 us`]: goService(goBinary, redis, {
        REDIS_PIPELINE_WINDOW: "150us",
        REDIS_PIPELINE_LIMIT: "8",
      }),
    }),
    ...(limitadorBinary !== undefined && {
      "Limitador, in memory": limitador(limitadorBinary, ["memory", "--cache=2000000"]),
      "Limitador, Redis": limitador(limitadorBinary, ["redis", `redis://${redis}`]),
    }),
    "grpc-js + rate-limiter-flexible, Redis": nodePeer("peers/servers/today.ts", { BENCH_REDIS: redis }),
  };
}

/** Slow peers get fewer calls, so that all run for some seconds. */
function callsOf(name: string, calls: number): number {
  if (/^(Go service|Limitador, Redis|grpc-js)/.test(name)) return Math.ceil(calls / 25);
  return name.startsWith("Limitador") ? Math.ceil(calls / 8) : calls;
}

/** Results by the name of the peer and of the workload. */
export type GatewayResults = ReadonlyMap<string, Readonly<Record<string, readonly Served[]>>>;

/**
 * Measures the peers in turn. Each gets half as many calls before the measured ones. With 50,000 calls before and 100,000
 * measured, 10 to 15 % of the CPU of Tollgate was that of V8's compilers.
 * @param only names of peers; all without it
 */
export async function measureGateway(
  rounds: number,
  calls: number,
  only?: readonly string[],
  loads = workloads,
): Promise<GatewayResults> {
  const redis = await startRedis();
  try {
    const peers = gatewayPeers(redis.url);
    const names = Object.keys(peers).filter((name) => only?.includes(name) ?? true);
    const results = new Map<string, Record<string, Served[]>>();
    for (const [load, workload] of Object.entries(loads)) {
      const measured = await interleaved(names, rounds, (name) =>
        onPeer(peers[name]!, (peer) => {
          const count = callsOf(name, calls);
          return gatewayLoad(peer, { ...workload, ...shape, calls: count, warmUp: Math.ceil(count / 2) });
        }),
      );
      for (const [name, figures] of measured) results.set(name, { ...results.get(name), [load]: figures });
    }
    return results;
  } finally {
    await redis.stop();
  }
}

/** The median CPU microseconds of a call; undefined if the peer was not measured. */
export function cpuOf(results: GatewayResults, name: string, load: string): number | undefined {
  const figures = results.get(name)?.[load];
  return figures && median(figures.map(({ cpuMicroseconds }) => cpuMicroseconds));
}

/** Formats a table with a row for each peer. */
export function gatewayTable(results: GatewayResults): string {
  const loads = Object.keys([...results.values()][0] ?? {});
  const first = loads[0]!;
  const times = (name: string, base: string) => {
    const [own, other] = [cpuOf(results, name, first), cpuOf(results, base, first)];
    return own === undefined || other === undefined ? "" : (own / other).toFixed(1);
  };
  const rows = [...results].map(([name, byLoad]) => [
    name,
    ...loads.map((load) => spread(byLoad[load]!.map(({ cpuMicroseconds }) => cpuMicroseconds))),
    times(name, EMPTY),
    times(name, REDIS),
    Math.round(median(byLoad[first]!.map(({ perSecond }) => perSecond))),
    Math.round(median(byLoad[loads.at(-1)!]!.map(({ mebibytes }) => mebibytes))),
  ]);
  const head = [...loads.map((load) => `${load}: CPU us`), "x empty handler", "x Tollgate over Redis"];
  return table(["service", ...head, "calls/s", "MiB"], rows);
}
