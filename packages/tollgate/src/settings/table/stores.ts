import { bool, choice, duration, int, path, secret, storeAddress, text } from "../kinds/kinds.ts";
import { list } from "../kinds/list-kinds.ts";
import { optional, setting } from "../kinds/setting.ts";

const failureMode = choice({ error: "error", allow: "allow", deny: "deny", local: "local" });

export const store = {
  backend: optional(
    "BACKEND_TYPE",
    choice({
      embedded: "embedded",
      kvstore: "kvstore",
      redis: "kvstore",
      objcache: "objcache",
      memcache: "objcache",
    }),
    "Store of the counters: this process (`embedded`), a key-value store (`kvstore`) or an object cache (`objcache`).",
    "kvstore if `KVSTORE_URL` is set, otherwise embedded",
  ),
  overridesEnabled: setting(
    "OVERRIDES_ENABLED",
    bool,
    true,
    "Follows the overrides and grants that operators keep in the key-value store. Every replica needs it, also without an admin API of its own.",
  ),
  localCacheSizeInBytes: setting(
    "LOCAL_CACHE_SIZE_IN_BYTES",
    int(0),
    0,
    "Size of the cache of keys that are over their limit; 0 turns the cache off.",
    ["LocalCacheSizeInBytes"],
  ),
  localCacheRevalidate: setting(
    "LOCAL_CACHE_REVALIDATE",
    duration("above 0", 3600e3),
    1e3,
    "Longest life of an entry of that cache while no messages of other replicas arrive: with memcached, and without a live subscription to the key-value store's channel.",
  ),
  expirationJitterMaxSeconds: setting(
    "EXPIRATION_JITTER_MAX_SECONDS",
    int(0, 2_147_483_647),
    300,
    "Maximum random time in seconds that is added to the lifetime of keys in the store, so that they do not all expire at once.",
  ),
  requiredAtStart: optional(
    "STORE_REQUIRED_AT_START",
    bool,
    "Keeps the gRPC and HTTP ports shut until the remote store has answered once. A log line says why. Later outages follow the failure mode.",
    "true if a remote store's failure mode is `error`, otherwise false",
  ),
  cacheKeyFormat: setting(
    "CACHE_KEY_FORMAT",
    choice({ tollgate: "tollgate", compatible: "compatible" }),
    "tollgate",
    "Format of the keys in a remote store. `compatible`: the Go service's keys, so that both services share counters. Different counters can then have the same key; see [Switching](switching.md).",
  ),
};

export const embedded = {
  sizeInBytes: setting(
    "EMBEDDED_STORE_SIZE_IN_BYTES",
    int(1024 * 1024, 4 * 1024 ** 3),
    256 * 1024 * 1024,
    "Memory for counters. A full store evicts counters; counters over their limit are evicted last. Evictions are logged and counted in the statistics.",
  ),
  snapshot: optional(
    "EMBEDDED_STORE_SNAPSHOT",
    path,
    "File that saves the counters across a graceful restart.",
  ),
};

/** The settings of one instance. The main and the per-second instance each have a set of them. */
function instance(prefix: "KVSTORE_" | "KVSTORE_PERSECOND_") {
  const second = prefix === "KVSTORE_PERSECOND_";
  return {
    socketType: optional(
      `${prefix}SOCKET_TYPE`,
      choice({ tcp: "tcp", unix: "unix" }),
      "Type of the socket.",
      "unix if the address is a path, otherwise tcp",
    ),
    type: setting(
      `${prefix}TYPE`,
      choice({ single: "single", sentinel: "sentinel", cluster: "cluster" }),
      "single",
      "Type of the deployment.",
    ),
    url: optional(
      `${prefix}URL`,
      storeAddress,
      second
        ? "Address of the instance for per-second limits, in the format of `KVSTORE_URL`."
        : "Address of the store. `single`: `host:port`, the path of a Unix socket, or a `redis://` or `rediss://` URL. `sentinel`: the master's name and the sentinels, separated by commas. `cluster`: the nodes, separated by commas.",
    ),
    poolSize: setting(`${prefix}POOL_SIZE`, int(1, 65_535), 10, "Number of connections kept open."),
    timeout: setting(
      `${prefix}TIMEOUT`,
      duration("above 0"),
      10e3,
      "Timeout of each connect, write and read.",
    ),
    poolOnEmpty: setting(
      `${prefix}POOL_ON_EMPTY_BEHAVIOR`,
      choice({ CREATE: "create", ERROR: "error", WAIT: "wait" }),
      "create",
      "Behavior when no connection is free. `CREATE`: opens another connection after the delay. `ERROR`: fails the call after the delay. `WAIT`: waits for a free connection.",
    ),
    poolOnEmptyWait: setting(
      `${prefix}POOL_ON_EMPTY_WAIT_DURATION`,
      duration("any"),
      1e3,
      "Delay before `CREATE` or `ERROR`.",
    ),
    pipelineWindow: setting(
      `${prefix}PIPELINE_WINDOW`,
      duration("any", 60e3),
      0,
      "Time that a batch waits for further calls, for example 150us; 0 sends pending calls at once.",
    ),
    pipelineLimit: optional(`${prefix}PIPELINE_LIMIT`, int(0), "Deprecated. Has no effect."),
    auth: optional(
      `${prefix}AUTH`,
      secret,
      "AUTH credentials: `password` or `user:password`. Write a password that contains a colon as `:password`.",
    ),
    sentinelAuth: optional(
      `${prefix}SENTINEL_AUTH`,
      secret,
      "AUTH credentials of the sentinels, in the same format.",
    ),
    tls: {
      enabled: setting(`${prefix}TLS`, bool, false, "Connects over TLS."),
      cert: optional(
        `${prefix}TLS_CLIENT_CERT`,
        path,
        "File with the client certificate (PEM).",
        second ? "the main instance's" : "",
      ),
      key: optional(
        `${prefix}TLS_CLIENT_KEY`,
        path,
        "File with the client's private key (PEM).",
        second ? "the main instance's" : "",
      ),
      caCert: optional(
        `${prefix}TLS_CACERT`,
        path,
        "File with the CA certificates (PEM) that verify the server's certificate.",
        second ? "the main instance's" : "the CAs of the system and of Node",
      ),
      skipHostnameVerification: optional(
        `${prefix}TLS_SKIP_HOSTNAME_VERIFICATION`,
        bool,
        "Accepts a certificate for another host name. The certificate chain is still verified.",
        second ? "the main instance's" : "false",
      ),
    },
  };
}

export const kvstore = {
  main: instance("KVSTORE_"),
  perSecondEnabled: setting(
    "KVSTORE_PERSECOND",
    bool,
    false,
    "Counts per-second limits in a separate instance.",
  ),
  perSecond: instance("KVSTORE_PERSECOND_"),
  healthCheckActiveConnection: setting(
    "KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION",
    bool,
    false,
    "Reports the service as unhealthy while an instance has no connection.",
  ),
  startupMaxElapsed: setting(
    "KVSTORE_STARTUP_MAX_ELAPSED_TIME",
    duration("any"),
    0,
    "Time that the service waits at startup for a store that is required (`STORE_REQUIRED_AT_START`). The process then exits with 1; 0 means no limit.",
  ),
  failureMode: setting(
    "KVSTORE_FAILURE_MODE",
    failureMode,
    "error",
    "Behavior when the store fails. `error`: fails the call (Envoy then allows the request unless `failure_mode_deny` is true). `allow`: answers OK. `deny`: answers OVER_LIMIT. `local`: counts in this process until the store recovers.",
  ),
};

export const objcache = {
  nodes: setting(
    "OBJCACHE_HOST_PORT",
    list,
    [],
    "Nodes as `host:port`, separated by commas. Every process needs the same list in the same order.",
  ),
  srv: optional(
    "OBJCACHE_SRV",
    text,
    "SRV record of the nodes, `_service._proto.name`. Replaces `OBJCACHE_HOST_PORT`.",
  ),
  srvRefresh: setting(
    "OBJCACHE_SRV_REFRESH",
    duration("any"),
    0,
    "Time between two lookups of the SRV record; 0 means one lookup, at startup.",
  ),
  maxIdleConnections: setting(
    "OBJCACHE_MAX_IDLE_CONNS",
    int(1, 65_535),
    2,
    "Maximum number of idle connections per node.",
  ),
  tls: {
    enabled: setting("OBJCACHE_TLS", bool, false, "Connects over TLS."),
    cert: optional("OBJCACHE_TLS_CLIENT_CERT", path, "File with the client certificate (PEM)."),
    key: optional("OBJCACHE_TLS_CLIENT_KEY", path, "File with the client's private key (PEM)."),
    caCert: optional(
      "OBJCACHE_TLS_CACERT",
      path,
      "File with the CA certificates (PEM) that verify the nodes' certificates.",
      "the CAs of the system and of Node",
    ),
    skipHostnameVerification: setting(
      "OBJCACHE_TLS_SKIP_HOSTNAME_VERIFICATION",
      bool,
      false,
      "Accepts a certificate for another host name. The certificate chain is still verified.",
    ),
  },
  longKeys: setting(
    "OBJCACHE_LONG_KEYS",
    choice({ hash: "hash", fail: "fail" }),
    "hash",
    "Behavior for keys above 250 bytes, the maximum of memcached. `hash`: stores the counter under a hash of the key. `fail`: fails the call.",
  ),
  failureMode: setting(
    "OBJCACHE_FAILURE_MODE",
    failureMode,
    "error",
    "Behavior when the object cache fails. See `KVSTORE_FAILURE_MODE`.",
  ),
};
