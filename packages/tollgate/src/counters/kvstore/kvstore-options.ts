import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import type { RefundListener } from "./across.ts";
import type { Credentials } from "./open-connection.ts";
import type { KvstoreTarget } from "./target.ts";

export interface KvstoreOptions {
  readonly target: KvstoreTarget;
  /** Connections to each server. Default 10. */
  readonly poolSize?: number;
  /** Milliseconds for connecting, and for a batch from its first written byte to its last reply. Default 10,000. */
  readonly timeout?: number;
  /** The treatment of a call that has waited `onEmptyWait` for a connection. Default `CREATE`. */
  readonly onEmpty?: "CREATE" | "ERROR" | "WAIT";
  /** Milliseconds. Default 1,000. */
  readonly onEmptyWait?: number;
  /** Delay of a batch in milliseconds, so that it fills. Below 1 the delay is one turn of the event loop. Default 0. */
  readonly pipelineWindow?: number;
  /** TLS to all servers and sentinels. `{}` trusts the system's authorities. Default: none. */
  readonly tls?: ClientTlsOptions;
  /** AUTH credentials for the servers. Default: none. */
  readonly credentials?: Credentials;
  /** AUTH credentials for the sentinels. Default: none. */
  readonly sentinelCredentials?: Credentials;
  /** The longest time that a key outlives its window, in seconds. The actual time is random. Default 300. */
  readonly expirationJitterMaxSeconds?: number;
  /** Sends EXPIRE with every count, and not once for each key and process. Default false. */
  readonly alwaysExpire?: boolean;
  /** Counts that may wait for a connection to one server. Further counts fail at once. Default 16,384. */
  readonly maxWaiting?: number;
  /** Called when the number of open connections changed, and after the first attempt to connect. Not while the store closes. */
  readonly onConnections?: (active: number) => void;
  /** Called after a refund of hits whose call another slot of the cluster refused. */
  readonly onRefund?: RefundListener | undefined;
  /**
   * The clock of sliding windows and token buckets, in microseconds since the epoch. Default: the server's, so that
   * replicas with different clocks agree.
   */
  readonly clock?: () => number;
  /** Records a span for each round trip, linked to its calls. Default: none. */
  readonly tracing?: Tracing;
  /** The name of that span. Default `KVStore Pipeline Execution`. */
  readonly spanName?: string;
  /** Logs a line at each change of state. The lines contain no credentials. */
  readonly log?: (level: "info" | "warn", message: string) => void;
}

export interface ResolvedOptions {
  readonly poolSize: number;
  readonly timeout: number;
  readonly onEmpty: "CREATE" | "ERROR" | "WAIT";
  readonly onEmptyWait: number;
  readonly pipelineWindow: number;
  readonly expirationJitterMaxSeconds: number;
  readonly maxWaiting: number;
  readonly clock: (() => number) | undefined;
  readonly tls: ClientTlsOptions | undefined;
  readonly credentials: Credentials | undefined;
  readonly sentinelCredentials: Credentials | undefined;
  readonly tracing: Tracing | undefined;
  readonly spanName: string;
}

/** @throws {RangeError} for a number out of range */
export function resolveOptions(options: KvstoreOptions): ResolvedOptions {
  return {
    poolSize: whole(options.poolSize ?? 10, "poolSize", 1, 65_535),
    timeout: whole(options.timeout ?? 10_000, "timeout", 1),
    onEmpty: options.onEmpty ?? "CREATE",
    onEmptyWait: whole(options.onEmptyWait ?? 1000, "onEmptyWait", 0),
    pipelineWindow: options.pipelineWindow ?? 0,
    expirationJitterMaxSeconds: whole(
      options.expirationJitterMaxSeconds ?? 300,
      "expirationJitterMaxSeconds",
      0,
    ),
    maxWaiting: whole(options.maxWaiting ?? 16_384, "maxWaiting", 1),
    clock: options.clock,
    tls: options.tls,
    credentials: options.credentials,
    sentinelCredentials: options.sentinelCredentials,
    tracing: options.tracing,
    spanName: options.spanName ?? "KVStore Pipeline Execution",
  };
}

function whole(value: number, name: string, least: number, most = 2 ** 31 - 1): number {
  const rounded = Math.ceil(value);
  if (!(rounded >= least && rounded <= most))
    throw new RangeError(`${name} is ${value}; it must be ${least} to ${most}`);
  return rounded;
}
