import { bool, choice, duration, int, path, secret, storeAddress, text } from "../kinds.ts";
import { list } from "../list-kinds.ts";
import { optional, setting } from "../setting.ts";

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
    "Where hits are counted: in this process, in a key-value store, or in an object cache.",
    "kvstore where `KVSTORE_URL` is set, else embedded",
  ),
  localCacheSizeInBytes: setting(
    "LOCAL_CACHE_SIZE_IN_BYTES",
    int(0),
    0,
    "Size of the cache of keys that are known to be above their limit; 0 turns the cache off.",
    ["LocalCacheSizeInBytes"],
  ),
  expirationJitterMaxSeconds: setting(
    "EXPIRATION_JITTER_MAX_SECONDS",
    int(0, 2_147_483_647),
    300,
    "Keys live up to this many seconds longer in the store, by chance, so that they do not all expire at once.",
  ),
};

export const embedded = {
  sizeInBytes: setting(
    "EMBEDDED_STORE_SIZE_IN_BYTES",
    int(1024 * 1024, 4 * 1024 ** 3),
    256 * 1024 * 1024,
    "Memory for counters. A full store evicts counters, those with a used-up limit last, and counts and logs that.",
  ),
  snapshot: optional(
    "EMBEDDED_STORE_SNAPSHOT",
    path,
    "File that keeps the counters over a graceful restart.",
  ),
};

/** The settings that the main and the per-second instance each have of their own. */
function instance(prefix: "KVSTORE_" | "KVSTORE_PERSECOND_") {
  const second = prefix === "KVSTORE_PERSECOND_";
  return {
    socketType: optional(
      `${prefix}SOCKET_TYPE`,
      choice({ tcp: "tcp", unix: "unix" }),
      "Kind of socket.",
      "tcp; unix where the address is a path",
    ),
    type: setting(
      `${prefix}TYPE`,
      choice({ single: "single", sentinel: "sentinel", cluster: "cluster" }),
      "single",
      "Kind of deployment.",
    ),
    url: optional(
      `${prefix}URL`,
      storeAddress,
      second
        ? "Address of the instance for per-second limits, as `KVSTORE_URL`."
        : "`single`: `host:port`, the path of a unix socket, or a `redis://` or `rediss://` URL. `sentinel`: the master's name and the sentinels, with commas between. `cluster`: the nodes, with commas between.",
    ),
    poolSize: setting(`${prefix}POOL_SIZE`, int(1, 65_535), 10, "Connections to keep."),
    timeout: setting(
      `${prefix}TIMEOUT`,
      duration("above 0"),
      10e3,
      "Bounds connecting, writing and reading, each.",
    ),
    poolOnEmpty: setting(
      `${prefix}POOL_ON_EMPTY_BEHAVIOR`,
      choice({ CREATE: "create", ERROR: "error", WAIT: "wait" }),
      "create",
      "When no connection is free: `CREATE` opens one more after the wait, `ERROR` fails after the wait, `WAIT` waits for a free one.",
    ),
    poolOnEmptyWait: setting(
      `${prefix}POOL_ON_EMPTY_WAIT_DURATION`,
      duration("any"),
      1e3,
      "Wait before `CREATE` or `ERROR`.",
    ),
    pipelineWindow: setting(
      `${prefix}PIPELINE_WINDOW`,
      duration("any", 60e3),
      0,
      "Time that a batch waits for more calls to join it, 150us for example; 0 sends at once whatever is there.",
    ),
    pipelineLimit: optional(`${prefix}PIPELINE_LIMIT`, int(0), "Deprecated, without effect."),
    auth: optional(
      `${prefix}AUTH`,
      secret,
      "`password` or `user:password`; a password that contains a colon is written `:password`.",
    ),
    sentinelAuth: optional(`${prefix}SENTINEL_AUTH`, secret, "The same for the sentinels."),
    tls: {
      enabled: setting(`${prefix}TLS`, bool, false, "Whether to connect over TLS."),
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
        "File with the CA certificates (PEM) that the server's certificate must come from.",
        second ? "the main instance's" : "the run time's own",
      ),
      skipHostnameVerification: optional(
        `${prefix}TLS_SKIP_HOSTNAME_VERIFICATION`,
        bool,
        "Whether a certificate for another host name is taken; its chain is checked all the same.",
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
    "Whether per-second limits are counted in an instance of their own.",
  ),
  perSecond: instance("KVSTORE_PERSECOND_"),
  healthCheckActiveConnection: setting(
    "KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION",
    bool,
    false,
    "Whether the service is unhealthy while an instance has no connection.",
  ),
  failureMode: setting(
    "KVSTORE_FAILURE_MODE",
    failureMode,
    "error",
    "When the store fails: `error` fails the call (Envoy lets the request pass then, unless `failure_mode_deny` is true), `allow` lets it pass, `deny` refuses it, `local` counts in this process until the store is back.",
  ),
};

export const objcache = {
  nodes: setting(
    "OBJCACHE_HOST_PORT",
    list,
    [],
    "The nodes, `host:port`, with commas between; the same list in the same order for every process.",
  ),
  srv: optional(
    "OBJCACHE_SRV",
    text,
    "SRV record to look the nodes up by, `_service._proto.name`; instead of `OBJCACHE_HOST_PORT`.",
  ),
  srvRefresh: setting(
    "OBJCACHE_SRV_REFRESH",
    duration("any"),
    0,
    "Time between look-ups; 0 means once, at start.",
  ),
  maxIdleConnections: setting(
    "OBJCACHE_MAX_IDLE_CONNS",
    int(1, 65_535),
    2,
    "Idle connections to keep to each node.",
  ),
  tls: {
    enabled: setting("OBJCACHE_TLS", bool, false, "Whether to connect over TLS."),
    cert: optional("OBJCACHE_TLS_CLIENT_CERT", path, "File with the client certificate (PEM)."),
    key: optional("OBJCACHE_TLS_CLIENT_KEY", path, "File with the client's private key (PEM)."),
    caCert: optional(
      "OBJCACHE_TLS_CACERT",
      path,
      "File with the CA certificates (PEM) that the nodes' certificates must come from.",
      "the run time's own",
    ),
    skipHostnameVerification: setting(
      "OBJCACHE_TLS_SKIP_HOSTNAME_VERIFICATION",
      bool,
      false,
      "Whether a certificate for another host name is taken; its chain is checked all the same.",
    ),
  },
  longKeys: setting(
    "OBJCACHE_LONG_KEYS",
    choice({ hash: "hash", fail: "fail" }),
    "hash",
    "Keys above 250 bytes, which memcached cannot hold: `hash` stores them under a hash, `fail` fails their calls.",
  ),
  failureMode: setting("OBJCACHE_FAILURE_MODE", failureMode, "error", "As `KVSTORE_FAILURE_MODE`."),
};
