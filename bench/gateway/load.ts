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
  /**
   * The client has the policy SCHED_IDLE, so Redis on the same core does not wait for the end of its time slice (p99 of a
   * bare round trip 3 ms instead of 9 on a busy machine). The client gives way to all other processes, too.
   */
  readonly givesWay?: boolean;
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

/** With a rate, the client polls instead of sleeping. With this memory, it does not collect garbage meanwhile. */
const pacedFlags = ["--expose-gc", "--min-semi-space-size=128", "--max-semi-space-size=128"];

/** Sends the calls of a gateway from a separate process. @throws {Error} if a call fails */
export function gatewayLoad({ server, url }: Peer, load: GatewayLoad): GatewayMeasured {
  const client = join(import.meta.dirname, "load-client.ts");
  const policy = load.givesWay ? ["chrt", "--idle", "0"] : [];
  const flags = load.rate === undefined ? [] : pacedFlags;
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
