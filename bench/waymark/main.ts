/**
 * Waymark beside raw `node:http`, Hono and Fastify: each server alone in its own process on one core, the load (wrk)
 * on the other, the servers taking turns. Printed are medians over the rounds, their spread, and ratios to raw.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ORDER_TEXT } from "./order.ts";
import { measureStart } from "./start.ts";

const SERVERS = ["raw", "waymark", "hono", "fastify"] as const;
type ServerName = (typeof SERVERS)[number];

interface Scenario {
  readonly name: string;
  readonly path: string;
  readonly script?: string;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a fixed string", path: "/" },
  { name: "one typed path and two query arguments", path: "/users/12?verbose=true&lang=en" },
  { name: `a JSON body of ${ORDER_TEXT.length} bytes`, path: "/orders", script: "order.lua" },
];

interface Sample {
  readonly perSecond: number;
  /** Microseconds of the server's own CPU, user and system, for one request. */
  readonly cpu: number;
}

/** `npm run bench -- waymark [--rounds=5] [--seconds=2]` */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { rounds: { type: "string" }, seconds: { type: "string" } },
  });
  const rounds = Number(values.rounds ?? 5);
  const seconds = Number(values.seconds ?? 2);
  const folder = mkdtempSync(join(tmpdir(), "waymark-bench-"));
  const bodyFile = join(folder, "body.json");
  writeFileSync(bodyFile, ORDER_TEXT);
  try {
    for (const scenario of SCENARIOS) {
      const samples = new Map<ServerName, Sample[]>(SERVERS.map((name) => [name, []]));
      for (let round = 0; round < rounds; round++) {
        // Every round begins with another server, so that none always has the same neighbour.
        for (let at = 0; at < SERVERS.length; at++) {
          const name = SERVERS[(at + round) % SERVERS.length]!;
          samples.get(name)!.push(await measure(name, scenario, seconds, bodyFile));
        }
      }
      report(scenario, samples, rounds, seconds);
    }
    await measureStart(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(
  name: ServerName,
  { path, script }: Scenario,
  seconds: number,
  bodyFile: string,
): Promise<Sample> {
  const server = fork(fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url)), { execArgv: [] });
  try {
    const [{ port }] = (await once(server, "message")) as [{ port: number }];
    execFileSync("taskset", ["-cp", "0", String(server.pid)], { stdio: "ignore" });
    const url = `http://127.0.0.1:${port}${path}`;
    const load = (duration: number) =>
      execFileSync(
        "taskset",
        ["-c", "1", "wrk", "-t1", "-c64", `-d${duration}s`, ...scriptArgs(script), url],
        {
          encoding: "utf8",
          env: { ...process.env, BENCH_BODY: bodyFile },
        },
      );
    load(1);
    const before = await cpuOf(server);
    const output = load(seconds);
    const used = (await cpuOf(server)) - before;
    if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${name} failed under load:\n${output}`);
    const requests = Number(/(\d+) requests in/.exec(output)![1]);
    return { perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]), cpu: used / requests };
  } finally {
    server.disconnect();
    await once(server, "exit");
  }
}

function scriptArgs(script: string | undefined): string[] {
  return script === undefined ? [] : ["-s", fileURLToPath(new URL(script, import.meta.url))];
}

async function cpuOf(server: ChildProcess): Promise<number> {
  server.send("cpu");
  const [{ cpu }] = (await once(server, "message")) as [{ cpu: NodeJS.CpuUsage }];
  return cpu.user + cpu.system;
}

function report(
  scenario: Scenario,
  samples: ReadonlyMap<ServerName, readonly Sample[]>,
  rounds: number,
  seconds: number,
): void {
  console.log(
    `\n${scenario.name} (wrk, 64 connections, ${rounds} rounds of ${seconds} s, ${process.version})`,
  );
  const raw = median(samples.get("raw")!.map(({ cpu }) => cpu));
  for (const [name, all] of samples) {
    const cpu = all.map((sample) => sample.cpu);
    const perSecond = median(all.map((sample) => sample.perSecond));
    const spread = `${Math.min(...cpu).toFixed(2)} to ${Math.max(...cpu).toFixed(2)}`;
    console.log(
      `  ${name.padEnd(8)} ${Math.round(perSecond).toLocaleString("en").padStart(8)} requests/s` +
        `  ${median(cpu).toFixed(2).padStart(6)} us CPU each (${spread})  ${(raw / median(cpu)).toFixed(3)} of raw`,
    );
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
