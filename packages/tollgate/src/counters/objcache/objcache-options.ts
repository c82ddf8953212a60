import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface ObjcacheOptions {
  /** The nodes, in the same order in every process. Exclusive with `srv`. */
  readonly nodes?: readonly NodeAddress[];
  /** The DNS name of SRV records, `_service._proto.name`. The nodes are sorted. Exclusive with `nodes`. */
  readonly srv?: string;
  /** Milliseconds between two lookups of the SRV records; 0 for a single lookup. Default 0. */
  readonly srvRefresh?: number;
  /** DNS servers for SRV records, `host:port`. Default: the system's. */
  readonly dnsServers?: readonly string[];
  /** Connections to each node, opened on demand. Values below 1 mean 2. Default 2. */
  readonly maxIdleConnections?: number;
  /** TLS to all nodes. Default: none. */
  readonly tls?: ClientTlsOptions;
  /** Milliseconds for connecting, and for a batch from its first written byte to its last reply. Default 500. */
  readonly timeout?: number;
  /** The longest time that a key outlives its window, in seconds. The actual time is random. Default 300. */
  readonly expirationJitterMaxSeconds?: number;
  /** Keys that may wait for their increment on each connection, and counts that may wait for an answer. Default 65,536. */
  readonly maxWaiting?: number;
  /** Records a span for each round trip, linked to its calls. Default: none. */
  readonly tracing?: Tracing;
  /** The name of that span. Default `ObjCache Fetch Execution`. */
  readonly spanName?: string;
  /** Logs a line at each change of state. */
  readonly log?: (level: "info" | "warn", message: string) => void;
}

/** Figures for `ratelimit.objcache.*`. */
export interface ObjcacheGauges {
  nodes: number;
  /** Open connections. */
  cxActive: number;
  /** Connections that were ever opened. */
  cxTotal: number;
  /** Hits of answered calls that no node acknowledged: the store may not have counted them. */
  incrementsLost: number;
  /** Results of `get` commands, with up to 64 keys each. */
  multigetSuccess: number;
  multigetError: number;
  keysRequested: number;
  keysFound: number;
  /** Results of `incr` and `decr` commands. A miss is a key that the node does not have. */
  incrementSuccess: number;
  incrementMiss: number;
  incrementError: number;
  /** Results of `add` commands. Not stored: another process created the key first. */
  addSuccess: number;
  addNotStored: number;
  addError: number;
}

export function newGauges(): ObjcacheGauges {
  return {
    nodes: 0,
    cxActive: 0,
    cxTotal: 0,
    incrementsLost: 0,
    multigetSuccess: 0,
    multigetError: 0,
    keysRequested: 0,
    keysFound: 0,
    incrementSuccess: 0,
    incrementMiss: 0,
    incrementError: 0,
    addSuccess: 0,
    addNotStored: 0,
    addError: 0,
  };
}
