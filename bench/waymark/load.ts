import { execFileSync } from "node:child_process";
import { cpuMicroseconds, loadCores } from "../support/process.ts";
import type { BenchServer } from "./servers.ts";

/** A request that is sent repeatedly. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** A file with a JSON body to POST. */
  readonly bodyFile?: string;
}

export interface Sample {
  readonly perSecond: number;
  /** CPU of the server in microseconds per request, user and system. */
  readonly cpu: number;
}

const CONNECTIONS = 64;

/**
 * Sends requests over 64 persistent connections, one at a time on each.
 * @throws {Error} if a request fails
 */
export function load({ url, pid }: BenchServer, { path, bodyFile }: Scenario, requests: number): Sample {
  const body = bodyFile === undefined ? [] : ["-d", bodyFile, "-H", "content-type: application/json"];
  const args = ["-c", loadCores, "h2load", "--h1", "-t1", `-c${CONNECTIONS}`, `-n${requests}`, ...body];
  const before = cpuMicroseconds(pid);
  const output = execFileSync("taskset", [...args, `${url}${path}`], { encoding: "utf8" });
  const used = cpuMicroseconds(pid) - before;
  if (!output.includes(`${requests} succeeded`) || !output.includes(`status codes: ${requests} 2xx`))
    throw new Error(`requests failed:\n${output}`);
  return { perSecond: Number(/([\d.]+) req\/s/.exec(output)![1]), cpu: used / requests };
}
