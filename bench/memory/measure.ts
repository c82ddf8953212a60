import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type GatewayMeasured, gatewayLoad } from "../gateway/load.ts";
import { leading, type Workload } from "../gateway/workload.ts";
import { startServer } from "../support/process.ts";
import { type BenchTollgate, SOURCES, startTollgate } from "../support/tollgate.ts";
import { bundleEnv, storeEnv, withBundle } from "./bundle.ts";

export const CALLS = 400_000;
/** Fills the store. */
export const manyAddresses: Workload = { ...leading, choice: "uniform", addresses: 1_000_000 };
/** Milliseconds after the start. The service ends the thread that compiles rules after five seconds. */
const IDLE = 6000;

/** The parts of a process's memory in MiB. */
export interface Parts {
  readonly resident: number;
  /** The most resident memory so far. */
  readonly most: number;
  readonly file: number;
  readonly anonymous: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
  readonly young: number;
  readonly code: number;
  readonly external: number;
}

export interface Measured extends Parts {
  readonly program: string;
  readonly state: string;
}

export const BUNDLE = "the image's bundle";
export const EMPTY = "an empty Node process";
export const IDLE_STATE = "idle";
/** The load that also fills the store. */
export const FULL_STATE = `after ${(4 * CALLS).toLocaleString("en")} calls, the store is full`;

/**
 * Measures the memory of the image's bundle with one and with two gRPC threads, of the TypeScript sources, and of an empty
 * Node process. The store is embedded and has 16 MiB.
 */
export async function measureMemory(): Promise<Measured[]> {
  return withBundle(async (launcher) => [
    ...(await measureTollgate(BUNDLE, launcher, bundleEnv, "1")),
    ...(await measureTollgate(`${BUNDLE}, two gRPC threads`, launcher, bundleEnv, "2")),
    ...(await measureTollgate("the TypeScript sources", SOURCES, storeEnv, "1")),
    await measureEmpty(),
  ]);
}

async function measureTollgate(
  program: string,
  launcher: string,
  programEnv: Readonly<Record<string, string>>,
  workers: string,
): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-memory-"));
  const measured: Measured[] = [];
  const env = {
    ...programEnv,
    WORKERS: workers,
    NODE_OPTIONS: `${programEnv.NODE_OPTIONS ?? ""} --import ${join(import.meta.dirname, "probe.mjs")}`,
    BENCH_MEMORY_FOLDER: folder,
  };
  const start = () => startTollgate(env, undefined, undefined, launcher);
  // The first start fills the cache of compiled code, which users have.
  await (await start()).stop();
  const server = await start();
  const read = async (state: string) => {
    await delay(500);
    measured.push({ program, state, ...partsOf(server.pid, folder) });
  };
  try {
    await delay(IDLE);
    await read(IDLE_STATE);
    for (let round = 1; round <= 3; round++) {
      send(server, leading);
      await read(`after ${(round * CALLS).toLocaleString("en")} calls`);
    }
    send(server, manyAddresses);
    await read(FULL_STATE);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  return measured;
}

/** Two threads share 16 connections so evenly that the service moves none of them. */
export function send(server: BenchTollgate, workload: Workload): GatewayMeasured {
  const load = { ...workload, connections: 16, streams: 25, calls: CALLS, warmUp: 0 };
  return gatewayLoad({ server, url: server.url }, load);
}

async function measureEmpty(): Promise<Measured> {
  const bare = await startServer({
    name: EMPTY,
    command: process.execPath,
    args: ["-e", 'require("node:net").createServer().listen(0, () => console.error("ready"))'],
    env: {},
    ready: /ready/,
  });
  await delay(1000);
  const measured = { program: EMPTY, state: IDLE_STATE, ...partsOf(bare.pid) };
  await bare.stop();
  return measured;
}

/** @param folder the files of the probe, one for each thread */
function partsOf(pid: number, folder?: string): Parts {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const status = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024;
  const threads = folder === undefined ? [] : readdirSync(folder).map((name) => join(folder, name));
  const heaps = threads.map((file) => JSON.parse(readFileSync(file, "utf8")) as Record<string, number>);
  const heap = (name: string) => heaps.reduce((sum, figures) => sum + figures[name]!, 0) / 2 ** 20;
  return {
    resident: status("VmRSS"),
    most: status("VmHWM"),
    file: status("RssFile"),
    anonymous: status("RssAnon"),
    heapTotal: heap("heapTotal"),
    heapUsed: heap("heapUsed"),
    young: heap("young"),
    code: heap("code"),
    external: heap("external"),
  };
}
