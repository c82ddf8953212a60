import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMicroseconds, loadCores } from "./process.ts";

/** The shape of a load. */
export interface Shape {
  readonly connections: number;
  readonly streams: number;
  readonly calls: number;
  /** Calls per second over all connections. Default: as many as possible. */
  readonly rate?: number;
}

export interface Measured {
  readonly perSecond: number;
  /** CPU of the server per call. */
  readonly cpuMicroseconds: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

const folder = mkdtempSync(join(tmpdir(), "bench-h2load-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Writes a message with gRPC's framing to a file, which h2load sends repeatedly. */
export function framedFile(message: Uint8Array): string {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  const file = join(folder, `message-${++files}`);
  writeFileSync(file, framed);
  return file;
}

/**
 * Calls a gRPC method over cleartext HTTP/2.
 * @throws {Error} if a call fails
 */
export function h2load(
  pid: number,
  url: string,
  bodyFile: string,
  shape: Shape,
  headers: readonly string[] = [],
): Measured {
  const { connections, streams, calls, rate } = shape;
  const log = join(folder, `log-${++files}`);
  const args = [
    "-c",
    loadCores,
    "h2load",
    "-c",
    String(connections),
    "-m",
    String(streams),
    "-n",
    String(calls),
  ];
  args.push("-d", bodyFile, "-H", "content-type: application/grpc", "-H", "te: trailers");
  for (const header of headers) args.push("-H", header);
  if (rate !== undefined) args.push("--rps", String(Math.max(1, Math.round(rate / connections))));
  const before = cpuMicroseconds(pid);
  const output = execFileSync("taskset", [...args, "--log-file", log, url], {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  const used = cpuMicroseconds(pid) - before;
  const succeeded = Number(/(\d+) succeeded/.exec(output)?.[1] ?? 0);
  if (succeeded !== calls) throw new Error(`h2load: ${succeeded} of ${calls} calls succeeded\n${output}`);
  const perSecond = Number(/([\d.]+) req\/s/.exec(output)?.[1] ?? 0);
  const latencies = Float64Array.from(readFileSync(log, "utf8").trimEnd().split("\n"), (line) =>
    Number(line.split("\t")[2]),
  ).sort();
  rmSync(log);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { perSecond, cpuMicroseconds: used / calls, p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}
