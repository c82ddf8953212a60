import { execFileSync } from "node:child_process";
import { cpuMicroseconds, loadCores } from "../support/process.ts";
import type { BenchServer } from "./servers.ts";

/** One kind of request, sent again and again. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** A file with the body of a POST of JSON. */
  readonly bodyFile?: string;
}

export interface Sample {
  readonly perSecond: number;
  /** Microseconds of the server's own CPU, user and system, for one request. */
  readonly cpu: number;
}

const CONNECTIONS = 64;

/** So many requests over 64 kept connections, one at a time on each; every one must succeed. */
export function load({ url, pid }: BenchServer, { path, bodyFile }: Scenario, requests: number): Sample {
  const body = bodyFile === undefined ? [] : ["-d", bodyFile, "-H", "content-type: application/json"];
  const args = ["-c", loadCores, "h2load", "--h1", "-t1", `-c${CONNECTIONS}`, `-n${requests}`, ...body];
  const before = cpuMicroseconds(pid);
  const output = execFileSync("taskset", [...args, `${url}${path}`], { encoding: "utf8" });
  const used = cpuMicroseconds(pid) - before;
  if (!output.includes(`${requests} succeeded`) || !output.includes(`status codes: ${requests} 2xx`))
    throw new Error(`not every request succeeded:\n${output}`);
  return { perSecond: Number(/([\d.]+) req\/s/.exec(output)![1]), cpu: used / requests };
}
