import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Served } from "../gateway/load.ts";
import type { Peer } from "../support/peers.ts";
import { loadCores } from "../support/process.ts";
import { freePort } from "../support/tollgate.ts";
import { bootstrap, type Gateway } from "./bootstrap.ts";
import type { Turn } from "./load-client.ts";

/** The longest start of Envoy. */
const START_MS = 30_000;

/** An Envoy in front of several services, with its client and its upstream. */
export interface RunningEnvoy {
  /** Sends calls through Envoy to one of the services. @throws {Error} if a call fails */
  take(peer: Peer, turn: { keys: number; calls: number; isTraced: boolean }): Promise<Served>;
  stop(): Promise<void>;
}

/** Starts an Envoy with one worker. Each service has a listener with tracing, and one without. */
export async function startEnvoy(binary: string, peers: readonly Peer[]): Promise<RunningEnvoy> {
  const folder = mkdtempSync(join(tmpdir(), "bench-envoy-"));
  const pinned = ["-c", loadCores];
  const client = spawn(
    "taskset",
    [...pinned, process.execPath, join(import.meta.dirname, "load-client.ts")],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const lines = createInterface(client.stdout)[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the client behind Envoy ended early");
    return value;
  };
  const upstream = Number(await nextLine());
  const gateways = new Map<Peer, Gateway[]>();
  for (const peer of peers) {
    const service = Number(new URL(peer.url).port);
    gateways.set(peer, [
      { port: await freePort(), service, isTraced: true },
      { port: await freePort(), service, isTraced: false },
    ]);
  }
  const all = [...gateways.values()].flat();
  const file = join(folder, "envoy.json");
  writeFileSync(file, JSON.stringify(bootstrap(upstream, all)));
  const args = [...pinned, binary, "-c", file, "--concurrency", "1", "--use-dynamic-base-id"];
  const envoy = spawn("taskset", [...args, "--log-level", "error"], { stdio: "ignore" });
  const stop = async (): Promise<void> => {
    for (const child of [envoy, client]) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const { port } of all) await untilServing(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    take: async (peer, { isTraced, ...turn }) => {
      const { port } = gateways.get(peer)!.find((gateway) => gateway.isTraced === isTraced)!;
      client.stdin.write(`${JSON.stringify({ ...turn, port, pid: peer.server.pid } satisfies Turn)}\n`);
      return JSON.parse(await nextLine()) as Served;
    },
  };
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
