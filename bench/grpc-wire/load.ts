/** Runs one server process and loads it with `h2load`. */
import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { METHOD } from "./servers.ts";

const run = promisify(execFile);

export interface Usage {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly port: number;
  readonly scheme: "http" | "https";

  private constructor(child: ChildProcess, port: number, scheme: "http" | "https") {
    this.#child = child;
    this.port = port;
    this.scheme = scheme;
  }

  /** @param tls the paths of a certificate and its key; empty for cleartext */
  static async start(name: string, tls: readonly string[] = []): Promise<ServerProcess> {
    const script = fileURLToPath(new URL("./servers.ts", import.meta.url));
    const child = fork(script, [name, ...tls], { execArgv: ["--expose-gc"] });
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return new ServerProcess(child, port, tls.length === 0 ? "http" : "https");
  }

  /** Reads the CPU and memory of the process. `memory` runs a garbage collection first. */
  async usage(question: "cpu" | "memory" = "cpu"): Promise<Usage> {
    this.#child.send(question);
    const [usage] = (await once(this.#child, "message")) as [Usage];
    return usage;
  }

  async stop(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, "exit");
  }
}

/** Results of one load. Latencies in milliseconds; CPU of the server in microseconds per response. */
export interface Figures {
  readonly perSecond: number;
  readonly cpuMicros: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export interface Shape {
  readonly connections: number;
  /** Calls in flight on each connection. */
  readonly streams: number;
}

/**
 * Loads `server` for `seconds`. Then loads it again with a log of each call, which slows the load generator down.
 * @param folder contains `body` and receives the log
 */
export async function load(
  server: ServerProcess,
  shape: Shape,
  seconds: number,
  folder: string,
): Promise<Figures> {
  const before = await server.usage();
  const answers = await h2load(server, shape, folder, [`--duration=${seconds}`]);
  const after = await server.usage();
  const log = join(folder, "log");
  await h2load(server, shape, folder, ["--duration=1", `--log-file=${log}`]);
  const [p50, p99, p999] = percentiles(readFileSync(log, "latin1"), [0.5, 0.99, 0.999]);
  rmSync(log);
  return {
    perSecond: answers / seconds,
    cpuMicros: (after.cpuMicros - before.cpuMicros) / answers,
    p50: p50!,
    p99: p99!,
    p999: p999!,
  };
}

/**
 * Runs h2load.
 * @returns the number of successful calls
 * @throws {Error} if a call failed
 */
async function h2load(server: ServerProcess, shape: Shape, folder: string, more: string[]): Promise<number> {
  const { stdout } = await run("h2load", [
    ...more,
    `--clients=${shape.connections}`,
    `--max-concurrent-streams=${shape.streams}`,
    `--data=${join(folder, "body")}`,
    "--header=content-type: application/grpc",
    "--header=te: trailers",
    `${server.scheme}://127.0.0.1:${server.port}${METHOD}`,
  ]);
  const counts = /(\d+) succeeded, (\d+) failed/.exec(stdout);
  const answers = Number(counts?.[1] ?? 0);
  if (answers === 0 || Number(counts?.[2]) > 0) throw new Error(`calls of h2load failed:\n${stdout}`);
  return answers;
}

/** Computes latencies in milliseconds from h2load's log: start, HTTP status and duration in microseconds per line. */
function percentiles(log: string, shares: readonly number[]): number[] {
  const durations = log
    .trimEnd()
    .split("\n")
    .map((line) => Number(line.slice(line.lastIndexOf("\t") + 1)))
    .sort((a, b) => a - b);
  return shares.map((share) => durations[Math.floor(durations.length * share)]! / 1000);
}
