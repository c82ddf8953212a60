/**
 * `npm run bench -- envoy [--rounds=3] [--calls=30000]`: the CPU of a decision behind a real Envoy with one worker and 16
 * connections, with equal keys and with 10,000, without and with tracing. At this shape each read of the service has one
 * or two calls. The servers run on one core; Envoy, its client, its upstream and Redis share the others.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { installEnvoy } from "../../packages/tollgate/envoy/install.ts";
import type { Served } from "../gateway/load.ts";
import { type GatewayResults, gatewayPeers, gatewayTable } from "../gateway/main.ts";
import { interleaved, machine } from "../support/figures.ts";
import { onPeer, type Peer } from "../support/peers.ts";
import { loadCores, residentMemory } from "../support/process.ts";
import { startRedis } from "../support/redis.ts";
import { freePort } from "../support/tollgate.ts";
import { bootstrap } from "./bootstrap.ts";
import type { EnvoyLoad } from "./load-client.ts";

/** The longest start of Envoy. */
const START_MS = 30_000;

const workloads: Readonly<Record<string, { keys: number; isTraced: boolean }>> = {
  "10,000 keys, traced": { keys: 10_000, isTraced: true },
  "10,000 keys": { keys: 10_000, isTraced: false },
  "equal keys, traced": { keys: 1, isTraced: true },
  "equal keys": { keys: 1, isTraced: false },
};

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string" }, calls: { type: "string" } } });
  const rounds = Number(values.rounds ?? 3);
  console.log(`${machine()}; medians of ${rounds} rounds\n`);
  console.log(await envoyTable(rounds, Number(values.calls ?? 30_000)));
}

/** Measures with the Envoy that can be installed here; otherwise says why there is none. */
export async function envoyTable(rounds: number, calls: number): Promise<string> {
  const envoy = installEnvoy();
  if ("reason" in envoy) return `Not measured: ${envoy.reason}`;
  return gatewayTable(await measureEnvoy(envoy.binary, rounds, calls));
}

/** Measures all peers with the given binary of Envoy. */
export async function measureEnvoy(binary: string, rounds: number, calls: number): Promise<GatewayResults> {
  const redis = await startRedis();
  try {
    const peers = Object.entries(gatewayPeers(redis.url)).filter(([name]) => !name.startsWith("grpc-js"));
    const results = new Map<string, Record<string, Served[]>>();
    for (const [load, { keys, isTraced }] of Object.entries(workloads)) {
      const measured = await interleaved(
        peers.map(([name]) => name),
        rounds,
        (name) =>
          onPeer(Object.fromEntries(peers)[name]!, (peer) =>
            behindEnvoy(binary, peer, isTraced, { keys, calls, warmUp: Math.ceil(calls / 2) }),
          ),
      );
      for (const [name, figures] of measured) results.set(name, { ...results.get(name), [load]: figures });
    }
    return results;
  } finally {
    await redis.stop();
  }
}

async function behindEnvoy(
  binary: string,
  { server, url }: Peer,
  isTraced: boolean,
  load: Pick<EnvoyLoad, "keys" | "calls" | "warmUp">,
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "bench-envoy-"));
  const client = spawn(
    "taskset",
    ["-c", loadCores, process.execPath, join(import.meta.dirname, "load-client.ts")],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the client behind Envoy ended early");
    return value;
  };
  const upstream = Number(await nextLine());
  const port = await freePort();
  const file = join(folder, "envoy.json");
  writeFileSync(
    file,
    JSON.stringify(bootstrap({ port, upstream, service: Number(new URL(url).port), isTraced })),
  );
  const args = ["-c", loadCores, binary, "-c", file, "--concurrency", "1", "--use-dynamic-base-id"];
  const envoy = spawn("taskset", [...args, "--log-level", "error"], { stdio: "ignore" });
  try {
    await untilServing(port);
    client.stdin.end(`${JSON.stringify({ ...load, port, pid: server.pid })}\n`);
    const figures = JSON.parse(await nextLine()) as Omit<Served, "mebibytes">;
    return { ...figures, mebibytes: residentMemory(server.pid) };
  } finally {
    envoy.kill("SIGKILL");
    client.kill("SIGKILL");
    await Promise.all(
      [envoy, client].map(
        (child) => child.exitCode === null && child.signalCode === null && once(child, "exit"),
      ),
    );
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilServing(port: number): Promise<void> {
  for (const end = performance.now() + START_MS; performance.now() < end; ) {
    const status = await fetch(`http://127.0.0.1:${port}/api/orders/1`, {
      headers: { "x-tenant": "tenant-0" },
    })
      .then((response) => response.status)
      .catch(() => 0);
    if (status === 200) return;
    await sleep(50);
  }
  throw new Error(`Envoy did not serve within ${START_MS / 1000} s`);
}
