/**
 * `npm run bench -- memory`: the resident memory of the service with an embedded store of 16 MiB and what it consists
 * of: idle, and under the load of a gateway. The baseline is a Node process that only listens on a port.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gatewayLoad } from "../gateway/load.ts";
import { leading } from "../gateway/workload.ts";
import { table } from "../support/figures.ts";
import { startServer } from "../support/process.ts";
import { startTollgate } from "../support/tollgate.ts";

const STORE = 16 * 2 ** 20;
const CALLS = 400_000;

interface Figures {
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  readonly young: number;
  readonly code: number;
}

export async function main(): Promise<void> {
  console.log(await memoryTable());
}

/** Measures the parts of the resident memory in MiB, idle and under load, beside an empty Node process. */
export async function memoryTable(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bench-memory-"));
  const file = join(folder, "figures.json");
  const rows: (string | number)[][] = [];
  const server = await startTollgate({
    EMBEDDED_STORE_SIZE_IN_BYTES: String(STORE),
    NODE_OPTIONS: `--import ${join(import.meta.dirname, "probe.ts")}`,
    BENCH_MEMORY_FILE: file,
  });
  try {
    const read = () => JSON.parse(readFileSync(file, "utf8")) as Figures;
    await delay(3000);
    rows.push(["idle", ...parts(server.pid, read())]);
    for (let round = 1; round <= 3; round++) {
      gatewayLoad(
        { server, url: server.url },
        { ...leading, connections: 4, streams: 100, calls: CALLS, warmUp: 0 },
      );
      await delay(500);
      rows.push([`after ${(round * CALLS).toLocaleString("en")} calls`, ...parts(server.pid, read())]);
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  const bare = await startServer({
    name: "an empty Node process",
    command: process.execPath,
    args: ["-e", 'require("node:net").createServer().listen(0, () => console.error("ready"))'],
    env: {},
    ready: /ready/,
  });
  await delay(1000);
  rows.push(["an empty Node process", ...parts(bare.pid, undefined)]);
  await bare.stop();
  return table(
    [
      "MiB",
      "resident",
      "most so far",
      "mapped files (Node)",
      "shared",
      "anonymous",
      "V8 heap",
      "in use",
      "young",
      "code",
      "external",
    ],
    rows,
  );
}

/** The parts of a process's resident memory in MiB. */
function parts(pid: number, figures: Figures | undefined): (string | number)[] {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024;
  const all = ["VmRSS", "VmHWM", "RssFile", "RssShmem", "RssAnon"].map(of);
  const { heapTotal = 0, heapUsed = 0, young = 0, code = 0, external = 0 } = figures ?? {};
  const inside = [heapTotal, heapUsed, young, code, external].map((bytes) => bytes / 2 ** 20);
  return [...all, ...inside].map((value) => (value === 0 ? "-" : value.toFixed(1)));
}
