import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";
import type { RefundListener } from "./across.ts";
import type { Credentials } from "./connection.ts";
import type { KvstoreTarget } from "./target.ts";

export interface KvstoreOptions {
  readonly target: KvstoreTarget;
  /** Connections kept to each server. Default 10. */
  readonly poolSize?: number;
  /** Milliseconds that bound connecting, and a batch from its first byte written to its last reply. Default 10,000. */
  readonly timeout?: number;
  /** What happens to a call that has waited `onEmptyWait` for a connection. Default `CREATE`. */
  readonly onEmpty?: "CREATE" | "ERROR" | "WAIT";
  /** Milliseconds. Default 1,000. */
  readonly onEmptyWait?: number;
  /** Milliseconds by which a batch is delayed so that it fills; below 1 it is one turn of the event loop. Default 0. */
  readonly pipelineWindow?: number;
  /** TLS towards every server, sentinels too; `{}` trusts the system's authorities. Default: none. */
  readonly tls?: ClientTlsOptions;
  /** Whom the servers take us for. Default: nobody in particular. */
  readonly credentials?: Credentials;
  /** Whom the sentinels take us for. Default: nobody in particular. */
  readonly sentinelCredentials?: Credentials;
  /** Keys live for their window and up to so many seconds more. Default 300. */
  readonly expirationJitterMaxSeconds?: number;
  /** Counts that may wait for a connection to one server; what does not fit fails at once. Default 16,384. */
  readonly maxWaiting?: number;
  /** Told when the number of standing connections changed, and after the first attempt to connect. */
  readonly onConnections?: (active: number) => void;
  /** Called when hits of a call that another slot of a cluster refuses were taken back. */
  readonly onRefund?: RefundListener | undefined;
  /** Where a span for each round trip is recorded, linked to the calls in it. Default: nowhere. */
  readonly tracing?: Tracing;
  /** One line at each turn of events; never with a credential. */
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
  readonly tls: ClientTlsOptions | undefined;
  readonly credentials: Credentials | undefined;
  readonly sentinelCredentials: Credentials | undefined;
  readonly tracing: Tracing | undefined;
}

/** @throws {RangeError} when a number is out of its range */
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
    tls: options.tls,
    credentials: options.credentials,
    sentinelCredentials: options.sentinelCredentials,
    tracing: options.tracing,
  };
}

function whole(value: number, name: string, least: number, most = 2 ** 31 - 1): number {
  const rounded = Math.ceil(value);
  if (!(rounded >= least && rounded <= most))
    throw new RangeError(`${name} is ${value}; it must be from ${least} to ${most}`);
  return rounded;
}
