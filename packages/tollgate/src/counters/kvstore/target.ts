import type { Endpoint } from "../transport/endpoint.ts";

/** The servers of one instance, as parsed from its settings. */
export type KvstoreTarget =
  | {
      readonly type: "single";
      readonly address: Endpoint;
      /** Number for SELECT. Connections start in database 0. */
      readonly database: number;
    }
  | {
      readonly type: "sentinel";
      /** The sentinels' name for the master. */
      readonly master: string;
      /** At least one. */
      readonly sentinels: readonly Endpoint[];
    }
  | {
      readonly type: "cluster";
      /** At least one. The store discovers the others. */
      readonly nodes: readonly Endpoint[];
    };

export type SingleTarget = KvstoreTarget & { type: "single" };
export type SentinelTarget = KvstoreTarget & { type: "sentinel" };
export type ClusterTarget = KvstoreTarget & { type: "cluster" };
