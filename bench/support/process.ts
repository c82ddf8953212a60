import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { MemoryGroup } from "./memory-group.ts";

/** A server under load, in a separate process on a separate core. */
export interface BenchServer {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface BenchServerOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Cores of the server, in the syntax of `taskset`. Default: the first core. */
  readonly cores?: string;
  /** The server starts in this group. */
  readonly group?: MemoryGroup;
  /** Matches the output of a server that is ready. */
  readonly ready: RegExp;
}

/** The cores of the load generator: all except the first. */
export const loadCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : "0";

export async function startServer(options: BenchServerOptions): Promise<BenchServer> {
  const { name, command, args, env = {}, cores = "0", group, ready } = options;
  const joined = group === undefined ? [] : ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group.processes];
  const [program, ...rest] = [...joined, "taskset", "-c", cores, command, ...args] as [string, ...string[]];
  const child = spawn(program, rest, {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await untilReady(child, name, ready);
  return {
    name,
    pid: child.pid!,
    stop: async () => {
      const ended = once(child, "close");
      child.kill("SIGTERM");
      const cut = setTimeout(() => child.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(cut);
    },
  };
}

function untilReady(child: ChildProcess, name: string, ready: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onOutput = (chunk: unknown): void => {
      if (text.length < 100_000) text += String(chunk);
      if (ready.test(text)) resolve();
    };
    child.stdout!.on("data", onOutput);
    child.stderr!.on("data", onOutput);
    child.once("close", () => reject(new Error(`${name} exited before it was ready:\n${text}`)));
  });
}

/** Reads the CPU of all threads of a process in microseconds (proc(5), schedstat: nanoseconds on the CPU). */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const file of globSync(`/proc/${pid}/task/*/schedstat`)) {
    try {
      nanoseconds += Number(readFileSync(file, "utf8").split(" ")[0]);
    } catch {
      // The thread has exited.
    }
  }
  return nanoseconds / 1000;
}

/** Reads the microseconds in which the main thread of a process was ready to run but waited for a core. */
export function waitMicroseconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1000;
}

/** Reads the resident memory of a process in MiB. */
export function residentMemory(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}
