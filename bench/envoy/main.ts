/**
 * `npm run bench -- envoy [--rounds=5]`: the CPU of a decision behind a real Envoy with one worker and 16 connections, with
 * equal keys and with 10,000, without and with tracing. All services run at once on one core, and get calls in short turns.
 * Envoy, its client, its upstream and Redis share the other cores.
 */
import { parseArgs } from "node:util";
import { installEnvoy } from "../../packages/tollgate/envoy/install.ts";
import type { Served } from "../gateway/load.ts";
import { EMPTY, type GatewayResults, gatewayPeers, gatewayTable } from "../gateway/main.ts";
import { interleaved, machine } from "../support/figures.ts";
import { nodePeer, type Peer, type StartPeer } from "../support/peers.ts";
import { startRedis } from "../support/redis.ts";
import { startEnvoy } from "./start.ts";

/** Calls of a turn: some tenths of a second, so that a change of the machine's load affects all services alike. */
const CALLS = 1000;
/** Turns of a round: its figure is their mean. */
const TURNS = 10;
/** Calls of each service before the first round, until its code is compiled. */
const WARM_UP = 60_000;

const workloads: Readonly<Record<string, { keys: number; isTraced: boolean }>> = {
  "10,000 keys, traced": { keys: 10_000, isTraced: true },
  "10,000 keys": { keys: 10_000, isTraced: false },
  "equal keys, traced": { keys: 1, isTraced: true },
  "equal keys": { keys: 1, isTraced: false },
};

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string" } } });
  const rounds = Number(values.rounds ?? 5);
  console.log(`${machine()}; medians of ${rounds} rounds\n`);
  console.log(await envoyTable(rounds));
}

/** Measures with the Envoy that can be installed here; otherwise says why there is none. */
export async function envoyTable(rounds: number, warmUp = WARM_UP): Promise<string> {
  const envoy = installEnvoy();
  if ("reason" in envoy) return `Not measured: ${envoy.reason}`;
  const redis = await startRedis();
  try {
    return gatewayTable(await measureEnvoy(envoy.binary, envoyPeers(redis.url), rounds, warmUp));
  } finally {
    await redis.stop();
  }
}

/** The services of the gateway's table, without that of common libraries, and with the floor of a service over Redis. */
function envoyPeers(redis: string): Record<string, StartPeer> {
  const { [EMPTY]: empty, ...peers } = gatewayPeers(redis);
  return {
    [EMPTY]: empty!,
    "a handler that sends PING to Redis": nodePeer("budgets/servers/round-trip.ts", { BENCH_REDIS: redis }),
    ...Object.fromEntries(Object.entries(peers).filter(([name]) => !name.startsWith("grpc-js"))),
  };
}

/** Measures services behind the given binary of Envoy. */
export async function measureEnvoy(
  binary: string,
  peers: Readonly<Record<string, StartPeer>>,
  rounds: number,
  warmUp: number,
): Promise<GatewayResults> {
  const started: Record<string, Peer> = {};
  try {
    for (const [name, start] of Object.entries(peers)) started[name] = await start();
    const names = Object.keys(started);
    const envoy = await startEnvoy(binary, Object.values(started));
    try {
      const results = new Map<string, Record<string, Served[]>>(names.map((name) => [name, {}]));
      for (const [load, { keys, isTraced }] of Object.entries(workloads)) {
        const take = (name: string, calls: number) => envoy.take(started[name]!, { keys, isTraced, calls });
        for (const name of names) await take(name, load === firstLoad ? warmUp : Math.ceil(warmUp / 20));
        const figures = new Map<string, Served[]>(names.map((name) => [name, []]));
        for (let round = 0; round < rounds; round++)
          for (const [name, turns] of await interleaved(names, TURNS, (name) => take(name, CALLS)))
            figures.get(name)!.push(meanOf(turns));
        for (const [name, served] of figures) results.get(name)![load] = served;
      }
      return results;
    } finally {
      await envoy.stop();
    }
  } finally {
    for (const { server } of Object.values(started)) await server.stop();
  }
}

const [firstLoad] = Object.keys(workloads);

function meanOf(turns: readonly Served[]): Served {
  const mean = (of: (turn: Served) => number) =>
    turns.reduce((sum, turn) => sum + of(turn), 0) / turns.length;
  return {
    cpuMicroseconds: mean((turn) => turn.cpuMicroseconds),
    perSecond: mean((turn) => turn.perSecond),
    mebibytes: mean((turn) => turn.mebibytes),
  };
}
