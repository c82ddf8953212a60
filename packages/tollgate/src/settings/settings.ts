import type { Pairs } from "./list-kinds.ts";
import type { Secret } from "./secret.ts";
import type { StoreTarget } from "./store-target.ts";
import type { Values } from "./table.ts";

/** Certificates for a connection that this service opens. Paths of PEM files. */
export interface ClientTls {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Undefined: the run time's own. */
  readonly caCert: string | undefined;
  readonly skipHostnameVerification: boolean;
}

export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** Set: callers must present a certificate from it. */
  readonly clientCaCert: string | undefined;
  /** Set: callers' certificates must carry this DNS name. */
  readonly clientSan: string | undefined;
}

export interface Credentials {
  /** Undefined where only a password is given. */
  readonly user: string | undefined;
  readonly password: Secret;
}

export type FailureMode = "error" | "allow" | "deny" | "local";

/** One deployment of the key-value store. Times in milliseconds. */
export interface KvStoreInstance {
  readonly target: StoreTarget;
  readonly poolSize: number;
  readonly timeout: number;
  readonly poolOnEmpty: "create" | "error" | "wait";
  readonly poolOnEmptyWait: number;
  /** May be below 1; 0 for none. */
  readonly pipelineWindow: number;
  readonly auth: Credentials | undefined;
  readonly sentinelAuth: Credentials | undefined;
  readonly tls: ClientTls | undefined;
}

export interface KvStoreSettings {
  readonly main: KvStoreInstance;
  /** Undefined: the main one counts per-second limits too. */
  readonly perSecond: KvStoreInstance | undefined;
  readonly healthCheckActiveConnection: boolean;
  readonly failureMode: FailureMode;
  /** What stands for `kvstore` in the names of statistics: `redis` where the store was given by that name. */
  readonly statisticsName: "kvstore" | "redis";
}

export interface ObjCacheSettings {
  /** `host:port` of the nodes, in their order; or the SRV record to find them by. */
  readonly nodes: readonly HostPort[] | { readonly srv: string; readonly refresh: number };
  readonly maxIdleConnections: number;
  readonly tls: ClientTls | undefined;
  readonly longKeys: "hash" | "fail";
  readonly failureMode: FailureMode;
  /** What stands for `objcache` in the names of statistics: `memcache` where the cache was given by that name. */
  readonly statisticsName: "objcache" | "memcache";
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** A rewrite rule for the names of agent statistics. `$0` to `$N` in the name and tag values are match groups. */
export interface Mogrifier {
  /** As the list spells it. */
  readonly name: string;
  /** A regular expression in RE2's syntax; known to compile. */
  readonly pattern: string;
  readonly replacement: string;
  readonly tags: Pairs<string>;
}

export interface StatsSettings {
  readonly flushInterval: number;
  readonly extraTags: Pairs<string>;
  readonly maxDynamicKeys: number;
  /** Sinks that are on; all undefined and false under `DISABLE_STATS`. */
  readonly push: Omit<Values["stats"]["push"], "enabled"> | undefined;
  readonly agent:
    | { readonly host: string; readonly port: number; readonly mogrifiers: readonly Mogrifier[] }
    | undefined;
  readonly pull: Omit<Values["stats"]["pull"], "enabled"> | undefined;
  readonly standardOutput: boolean;
}

/** Everything that the environment says, checked and deeply frozen. Durations in milliseconds, sizes in bytes. */
export interface Settings {
  /** Undefined: no HTTP port. */
  readonly http:
    | (Pick<Values["http"], "host" | "port"> & { readonly tls: ServerTls | undefined })
    | undefined;
  readonly grpc: Omit<Values["grpc"], "tls"> & { readonly tls: ServerTls | undefined };
  readonly debug: Values["debug"];
  readonly requests: Values["requests"];
  readonly lifecycle: Values["lifecycle"];
  readonly config: Values["config"];
  readonly files: Values["files"];
  readonly xds: Omit<Values["xds"], "tls"> & { readonly tls: XdsTls | undefined };
  readonly decision: Omit<Values["decision"], "headers"> & {
    readonly headers: Omit<Values["decision"]["headers"], "enabled"> | undefined;
  };
  readonly store: Omit<Values["store"], "backend"> & {
    readonly backend: "embedded" | "kvstore" | "objcache";
  };
  readonly embedded: Values["embedded"];
  /** Set where it is the back end. */
  readonly kvstore: KvStoreSettings | undefined;
  /** Set where it is the back end. */
  readonly objcache: ObjCacheSettings | undefined;
  readonly stats: StatsSettings;
  readonly logs: Values["logs"];
  /** Undefined: off. */
  readonly tracing: Omit<Values["tracing"], "enabled"> | undefined;
}

export type XdsTls = Omit<Values["xds"]["tls"], "enabled">;
