import type { Tracing } from "../../observe/tracing/tracing.ts";
import type { ClientTlsOptions } from "../transport/tls.ts";

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface ObjcacheOptions {
  /** The nodes, in the same order in every process. Exclusive with `srv`. */
  readonly nodes?: readonly NodeAddress[];
  /** A DNS name whose SRV records name the nodes, `_service._proto.name`; taken in sorted order. Exclusive with `nodes`. */
  readonly srv?: string;
  /** Milliseconds after which the SRV records are looked up again; 0 for never. Default 0. */
  readonly srvRefresh?: number;
  /** Addresses of the DNS servers to ask for SRV records, `host:port`. Default: the system's. */
  readonly dnsServers?: readonly string[];
  /** Connections that are kept to each node, opened when they are needed; below 1 it is 2. Default 2. */
  readonly maxIdleConnections?: number;
  /** TLS towards every node. Default: none. */
  readonly tls?: ClientTlsOptions;
  /** Milliseconds that bound connecting, and a batch from its first byte written to its last reply. Default 500. */
  readonly timeout?: number;
  /** Keys live for their window and up to so many seconds more. Default 300. */
  readonly expirationJitterMaxSeconds?: number;
  /** Keys that may wait for their increment on each node, and counts that may wait for their answer. Default 65,536. */
  readonly maxWaiting?: number;
  /** Where a span for each round trip is recorded, linked to the calls in it. Default: nowhere. */
  readonly tracing?: Tracing;
  /** One line at each turn of events. */
  readonly log?: (level: "info" | "warn", message: string) => void;
}

/** Plain numbers for `ratelimit.objcache.*`. */
export interface ObjcacheGauges {
  nodes: number;
  /** Connections that stand now. */
  cxActive: number;
  /** Connections made so far. */
  cxTotal: number;
  /** Increments that were answered for and never acknowledged by a node: hits that the store does not know of. */
  incrementsLost: number;
  /** What became of each `get`, which asks for up to 64 keys. */
  multigetSuccess: number;
  multigetError: number;
  keysRequested: number;
  keysFound: number;
  /** What became of each `incr` and `decr`; a miss is a key that the node does not hold. */
  incrementSuccess: number;
  incrementMiss: number;
  incrementError: number;
  /** What became of each `add`; not stored is a key that somebody else had made meanwhile. */
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
