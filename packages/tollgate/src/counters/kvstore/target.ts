import type { Endpoint } from "../transport/endpoint.ts";

/** The servers of one instance, as somebody else has read them from its settings. */
export type KvstoreTarget =
  | {
      readonly type: "single";
      readonly address: Endpoint;
      /** SELECT's number; 0 is the one that every connection begins in. */
      readonly database: number;
    }
  | {
      readonly type: "sentinel";
      /** The name that the sentinels know the master by. */
      readonly master: string;
      /** At least one. */
      readonly sentinels: readonly Endpoint[];
    }
  | {
      readonly type: "cluster";
      /** At least one; the others are learnt from it. */
      readonly nodes: readonly Endpoint[];
    };

export type SingleTarget = KvstoreTarget & { type: "single" };
export type SentinelTarget = KvstoreTarget & { type: "sentinel" };
export type ClusterTarget = KvstoreTarget & { type: "cluster" };
