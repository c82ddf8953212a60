import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Peer } from "../support/peers.ts";
import { loadCores, residentMemory } from "../support/process.ts";
import type { Workload } from "./workload.ts";

export interface GatewayLoad extends Workload {
  readonly connections: number;
  readonly streams: number;
  readonly calls: number;
  /** Calls before the measured ones, on the same connections. */
  readonly warmUp: number;
  /** Calls per second, each sent by itself. Default: as many calls as possible. */
  readonly rate?: number;
}

/** The figures that the client reports. Latencies in microseconds; 0 without a rate. */
export interface ClientFigures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** The time from due to sent, which is a part of the latency. */
  readonly late99: number;
  readonly late999: number;
  /** The share of the time in which the client did not wait for the next call or response. */
  readonly clientShare: number;
  /** The shares of the time in which the client and the server were ready to run, but waited for their core. */
  readonly clientWait: number;
  readonly serverWait: number;
  /** CPU of the server for the measured calls. */
  readonly serverMicroseconds: number;
}

/** A server under load. */
export interface Served {
  /** CPU of the server per call. */
  readonly cpuMicroseconds: number;
  readonly perSecond: number;
  readonly mebibytes: number;
}

export interface GatewayMeasured extends Served, Omit<ClientFigures, "serverMicroseconds"> {}

/**
 * With a rate, the client polls instead of sleeping. It must not collect garbage (which pauses it for milliseconds) nor
 * keep Redis, on the same core, waiting for its time slice.
 */
const paced = {
  policy: ["chrt", "--idle", "0"],
  flags: ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"],
};

/** Sends the calls of a gateway from a separate process. @throws {Error} if a call fails */
export function gatewayLoad({ server, url }: Peer, load: GatewayLoad): GatewayMeasured {
  const client = join(import.meta.dirname, "load-client.ts");
  const { policy, flags } = load.rate === undefined ? { policy: [], flags: [] } : paced;
  const output = execFileSync("taskset", ["-c", loadCores, ...policy, process.execPath, ...flags, client], {
    input: JSON.stringify({ ...load, url, pid: server.pid }),
    encoding: "utf8",
  });
  const { serverMicroseconds, ...figures } = JSON.parse(output) as ClientFigures;
  return {
    ...figures,
    cpuMicroseconds: serverMicroseconds / load.calls,
    mebibytes: residentMemory(server.pid),
  };
}
