/**
 * `npm run bench -- peers [--rounds=3] [--calls=60000]`: compares Tollgate to other services with the same rules, the same
 * Redis and the same load. Each service runs in one process on one core; the services take turns in one run:
 *
 * - Tollgate with embedded counters and with Redis
 * - the Go service with Redis, if `PEER_GO_SERVICE` contains the path of its binary
 * - a Node service of common libraries: grpc-js and rate-limiter-flexible with Redis
 * - grpc-js with an empty handler: the transport cost of a call in Node without Tollgate
 */
import { parseArgs } from "node:util";
import { message } from "../support/decision.ts";
import { interleaved, machine, median, spread, table } from "../support/figures.ts";
import { framedFile, h2load, type Measured, type Shape } from "../support/h2load.ts";
import {
  emptyGrpcJs,
  goBinary,
  goService,
  nodePeer,
  onPeer,
  type StartPeer,
  tollgate,
} from "../support/peers.ts";
import { residentMemory } from "../support/process.ts";
import { startRedis } from "../support/redis.ts";

const shapes: [string, Omit<Shape, "calls">][] = [
  ["8 connections x 50 streams", { connections: 8, streams: 50 }],
  ["64 connections x 1 stream", { connections: 64, streams: 1 }],
];

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string" }, calls: { type: "string" } } });
  const rounds = Number(values.rounds ?? 3);
  console.log(
    `${machine()}; one core per server, h2load and Redis on the others; medians of ${rounds} rounds\n`,
  );
  console.log(await measurePeers(rounds, Number(values.calls ?? 60_000)));
  if (goBinary === undefined)
    console.log("the Go service was not measured: set PEER_GO_SERVICE to the path of its binary");
}

/** Returns a Markdown table for each shape of the load. */
export async function measurePeers(rounds: number, calls: number): Promise<string> {
  const redis = await startRedis();
  const peers: Record<string, StartPeer> = {
    "Tollgate, embedded": tollgate(),
    "Tollgate, Redis": tollgate({ KVSTORE_URL: redis.url }),
    ...(goBinary !== undefined && { "Go service, Redis": goService(goBinary, redis.url) }),
    "grpc-js + rate-limiter-flexible, Redis": nodePeer("peers/servers/today.ts", { BENCH_REDIS: redis.url }),
    "grpc-js, empty handler": emptyGrpcJs,
  };
  const file = framedFile(message("path=/api/a,remote_address=192.0.2.1"));
  const tables: string[] = [];
  try {
    for (const [shapeName, shape] of shapes) {
      const memory = new Map<string, number[]>();
      const results = await interleaved(Object.keys(peers), rounds, (name) =>
        onPeer(peers[name]!, ({ server, url }) => {
          h2load(server.pid, url, file, { ...shape, calls: Math.ceil(calls / 3) });
          const measured = h2load(server.pid, url, file, { ...shape, calls });
          memory.set(name, [...(memory.get(name) ?? []), residentMemory(server.pid)]);
          return measured;
        }),
      );
      tables.push(`### ${shapeName}\n\n${report(results, memory)}\n`);
    }
  } finally {
    await redis.stop();
  }
  return tables.join("\n");
}

function report(results: Map<string, Measured[]>, memory: Map<string, number[]>): string {
  const own = median(results.get("Tollgate, Redis")!.map(({ cpuMicroseconds }) => cpuMicroseconds));
  const of = (measured: Measured[], figure: keyof Measured) => measured.map((one) => one[figure]);
  const rows = [...results].map(([name, measured]) => [
    name,
    spread(of(measured, "cpuMicroseconds")),
    (median(of(measured, "cpuMicroseconds")) / own).toFixed(1),
    Math.round(median(of(measured, "perSecond"))),
    median(of(measured, "p50")) / 1000,
    median(of(measured, "p99")) / 1000,
    median(of(measured, "p999")) / 1000,
    Math.round(median(memory.get(name)!)),
  ]);
  const head = [
    "service",
    "CPU us per decision",
    "x Tollgate over Redis",
    "decisions/s",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "MiB",
  ];
  return table(head, rows);
}
