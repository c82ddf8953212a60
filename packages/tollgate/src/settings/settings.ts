import type { Pairs } from "./kinds/list-kinds.ts";
import type { Secret } from "./kinds/secret.ts";
import type { StoreTarget } from "./store-target.ts";
import type { Values } from "./table.ts";

/** Paths of PEM files for a connection that this service opens. */
export interface ClientTls {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Undefined: the CAs of the system and of Node. */
  readonly caCert: string | undefined;
  readonly skipHostnameVerification: boolean;
}

export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** Verifies callers' certificates; undefined: callers need no certificate. */
  readonly clientCaCert: string | undefined;
  /** DNS name that callers' certificates must contain; undefined: any name. */
  readonly clientSan: string | undefined;
}

export interface Credentials {
  /** Undefined if only a password is given. */
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
  /** Possibly below 1; 0 for none. */
  readonly pipelineWindow: number;
  readonly auth: Credentials | undefined;
  readonly sentinelAuth: Credentials | undefined;
  readonly tls: ClientTls | undefined;
}

export interface KvStoreSettings {
  readonly main: KvStoreInstance;
  /** Undefined: the main instance also counts per-second limits. */
  readonly perSecond: KvStoreInstance | undefined;
  readonly healthCheckActiveConnection: boolean;
  readonly failureMode: FailureMode;
  /** Milliseconds; 0 for no limit. */
  readonly startupMaxElapsed: number;
  /** The name of the store in statistics: `redis` if a `REDIS_` variable sets it. */
  readonly statisticsName: "kvstore" | "redis";
}

export interface ObjCacheSettings {
  /** `host:port` of the nodes in the given order, or the SRV record of the nodes. */
  readonly nodes: readonly HostPort[] | { readonly srv: string; readonly refresh: number };
  readonly maxIdleConnections: number;
  readonly tls: ClientTls | undefined;
  readonly longKeys: "hash" | "fail";
  readonly failureMode: FailureMode;
  /** The name of the store in statistics: `memcache` if a `MEMCACHE_` variable sets it. */
  readonly statisticsName: "objcache" | "memcache";
}

/** The admin API. It has tokens, a file of tokens, or an authority for client certificates. */
export interface AdminSettings {
  readonly host: string;
  readonly port: number;
  readonly tokens: Pairs<Secret>;
  readonly tokenFile: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly tls: ServerTls | undefined;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** A rewrite rule for names of agent statistics. `$0` to `$N` in the name and tag values are match groups. */
export interface Mogrifier {
  /** The name as spelled in the list. */
  readonly name: string;
  /** A valid regular expression in RE2's syntax. */
  readonly pattern: string;
  readonly replacement: string;
  readonly tags: Pairs<string>;
}

export interface StatsSettings {
  readonly flushInterval: number;
  readonly extraTags: Pairs<string>;
  readonly maxDynamicKeys: number;
  /** Undefined: the push sink is off. `DISABLE_STATS` turns all sinks off. */
  readonly push: Omit<Values["stats"]["push"], "enabled"> | undefined;
  readonly agent:
    | { readonly host: string; readonly port: number; readonly mogrifiers: readonly Mogrifier[] }
    | undefined;
  readonly pull: Omit<Values["stats"]["pull"], "enabled"> | undefined;
  readonly standardOutput: boolean;
}

/**
 * The validated, deeply frozen settings. Durations are in milliseconds, sizes in bytes. The reference of settings describes
 * each.
 */
export interface Settings {
  /** Undefined: no HTTP port. */
  readonly http:
    | (Pick<Values["http"], "host" | "port"> & { readonly tls: ServerTls | undefined })
    | undefined;
  /** The gRPC port: its address or socket, connection ages, TLS. */
  readonly grpc: Omit<Values["grpc"], "tls"> & { readonly tls: ServerTls | undefined };
  /** The debug port. */
  readonly debug: Values["debug"];
  /** Undefined: no admin API. */
  readonly admin: AdminSettings | undefined;
  /** Bounds on one request. */
  readonly requests: Values["requests"];
  /** Start and stop, and the number of threads. */
  readonly lifecycle: Values["lifecycle"];
  /** Settings for loading rules. */
  readonly config: Values["config"];
  /** The place of the files of rules. */
  readonly files: Values["files"];
  /** The management server of rules. */
  readonly xds: Omit<Values["xds"], "tls"> & { readonly tls: XdsTls | undefined };
  /** Settings for decisions and answers. */
  readonly decision: Omit<Values["decision"], "headers"> & {
    readonly headers: Omit<Values["decision"]["headers"], "enabled"> | undefined;
  };
  /** Bounds on reservations. */
  readonly reservations: Values["reservations"];
  /** The store of the counters. */
  readonly store: Omit<Values["store"], "backend" | "requiredAtStart"> & {
    readonly backend: "embedded" | "kvstore" | "objcache";
    /** Whether the ports stay shut until the remote store has answered. False without a remote store. */
    readonly requiredAtStart: boolean;
  };
  /** The counters in the process. */
  readonly embedded: Values["embedded"];
  /** Undefined: another store is the back end. */
  readonly kvstore: KvStoreSettings | undefined;
  /** Undefined: another store is the back end. */
  readonly objcache: ObjCacheSettings | undefined;
  /** Statistics and their sinks. */
  readonly stats: StatsSettings;
  /** Undefined: off. */
  readonly topKeys: Omit<Values["topKeys"], "enabled" | keyof MaskSettings> | undefined;
  /** The log of decisions. */
  readonly decisionLog: Values["decisionLog"];
  /** Masks values of requests wherever operators see them. */
  readonly mask: MaskSettings;
  /** The log. */
  readonly logs: Values["logs"];
  /** Undefined: off. */
  readonly tracing: Omit<Values["tracing"], "enabled"> | undefined;
}

export type MaskSettings = Pick<Values["topKeys"], "mask" | "maskStyle" | "maskSalt">;

export type XdsTls = Omit<Values["xds"]["tls"], "enabled">;
