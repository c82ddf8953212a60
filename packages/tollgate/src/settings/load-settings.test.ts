import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { formatFault, SettingsError } from "./errors.ts";
import { loadSettings } from "./load-settings.ts";

type Env = Record<string, string>;

function faultsOf(environment: Env): string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    assert.equal(error.code, "INVALID_SETTINGS");
    return error.faults.map(formatFault);
  }
  return [];
}

/** Environments that are refused, with the beginning of the message. */
const refused: [environment: Env, message: RegExp][] = [
  [{ PORT: "80x" }, /^PORT="80x" must be a port/],
  [{ NEAR_LIMIT_RATIO: "1.5" }, /^NEAR_LIMIT_RATIO="1.5" must be a number from 0 to 1/],
  [{ TRACING_SAMPLING_RATE: "-1" }, /^TRACING_SAMPLING_RATE="-1" must be a number from 0 to 1/],
  [{ STATS_FLUSH_INTERVAL: "0s" }, /^STATS_FLUSH_INTERVAL="0s" must be a duration above 0/],
  [{ KVSTORE_URL: "a:1", REDIS_URL: "b:1" }, /^REDIS_URL="b:1" conflicts with KVSTORE_URL="a:1"/],
  [{ USE_STATSD: "true", USE_PUSHSTATS: "false" }, /^USE_STATSD="true" conflicts with USE_PUSHSTATS="false"/],
  [
    { LocalCacheSizeInBytes: "1", LOCAL_CACHE_SIZE_IN_BYTES: "2" },
    /^LocalCacheSizeInBytes="1" conflicts with LOCAL_CACHE_SIZE_IN_BYTES="2"/,
  ],
  [{ GRPC_PORT: "8080" }, /^GRPC_PORT="8080" must name another port: PORT also uses 8080/],
  [{ PORT: "6070" }, /^PORT="6070" must name another port: DEBUG_PORT also uses 6070/],
  [
    { USE_PROMETHEUS: "true", PROMETHEUS_ADDR: ":8081" },
    /^PROMETHEUS_ADDR=":8081" must name another port: GRPC_PORT also uses 8081/,
  ],
  [{ GRPC_SERVER_USE_TLS: "true", GRPC_SERVER_TLS_CERT: "c" }, /^GRPC_SERVER_TLS_KEY must be set/],
  [{ GRPC_SERVER_USE_TLS: "true", GRPC_SERVER_TLS_KEY: "c" }, /^GRPC_SERVER_TLS_CERT must be set/],
  [{ GRPC_CLIENT_TLS_CACERT: "ca" }, /^GRPC_CLIENT_TLS_CACERT="ca" needs GRPC_SERVER_USE_TLS=true/],
  [{ GRPC_CLIENT_TLS_SAN: "x" }, /^GRPC_CLIENT_TLS_SAN="x" needs GRPC_CLIENT_TLS_CACERT/],
  [{ HTTP_SERVER_USE_TLS: "true", HTTP_SERVER_TLS_CERT: "c" }, /^HTTP_SERVER_TLS_KEY must be set/],
  [{ HTTP_SERVER_USE_TLS: "true", HTTP_SERVER_TLS_KEY: "c" }, /^HTTP_SERVER_TLS_CERT must be set/],
  [{ HTTP_CLIENT_TLS_CACERT: "ca" }, /^HTTP_CLIENT_TLS_CACERT="ca" needs HTTP_SERVER_USE_TLS=true/],
  [{ HTTP_CLIENT_TLS_SAN: "x" }, /^HTTP_CLIENT_TLS_SAN="x" needs HTTP_CLIENT_TLS_CACERT/],
  [
    { BACKEND_TYPE: "embedded", CACHE_KEY_PREFIX: "é".repeat(76) },
    /^CACHE_KEY_PREFIX="é+" must have at most 150 bytes; it has 152$/,
  ],
  [{ KVSTORE_URL: "h:1", CACHE_KEY_PREFIX: "x".repeat(151) }, /^CACHE_KEY_PREFIX="x+" must have at most 150/],
  ...["a b", "a\tb", "a\n", "\x7f", "\0"].map((prefix): [Env, RegExp] => [
    { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1", CACHE_KEY_PREFIX: prefix },
    /^CACHE_KEY_PREFIX=".+" must not contain white space or control characters: memcached does not allow them in keys$/,
  ]),
  [
    { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: "h:1", MEMCACHE_LONG_KEYS: "cut" },
    /^MEMCACHE_LONG_KEYS="cut" must be hash or fail$/,
  ],
  [{ BACKEND_TYPE: "redis" }, /^KVSTORE_URL must be set, because BACKEND_TYPE is redis/],
  [{ BACKEND_TYPE: "mysql" }, /^BACKEND_TYPE="mysql" must be embedded, kvstore, redis, objcache or memcache/],
  [{ REDIS_POOL_SIZE: "5" }, /^KVSTORE_URL must be set \(or REDIS_URL\), because REDIS_POOL_SIZE is/],
  [
    { KVSTORE_URL: "h:1", KVSTORE_PERSECOND: "true" },
    /^KVSTORE_PERSECOND_URL must be set, because KVSTORE_PERSECOND is true/,
  ],
  [{ KVSTORE_URL: "h", KVSTORE_TYPE: "single" }, /^KVSTORE_URL="h" must be host:port/],
  [
    { KVSTORE_URL: "m", KVSTORE_TYPE: "sentinel" },
    /^KVSTORE_URL="m" must be the master's name and at least one/,
  ],
  [
    { KVSTORE_URL: "h:1", KVSTORE_TYPE: "cluster", KVSTORE_SOCKET_TYPE: "unix" },
    /^KVSTORE_SOCKET_TYPE="unix" must be tcp/,
  ],
  [
    { KVSTORE_URL: "h:1", KVSTORE_TLS: "true", KVSTORE_TLS_CLIENT_CERT: "c" },
    /^KVSTORE_TLS_CLIENT_KEY must be set, because KVSTORE_TLS_CLIENT_CERT is/,
  ],
  [{ KVSTORE_URL: "rediss://h:1", KVSTORE_TLS: "false" }, /^KVSTORE_TLS="false" must be true/],
  [{ KVSTORE_URL: "h:1", KVSTORE_POOL_SIZE: "0" }, /^KVSTORE_POOL_SIZE="0" must be a whole number from 1/],
  [
    { KVSTORE_URL: "h:1", KVSTORE_FAILURE_MODE: "shrug" },
    /^KVSTORE_FAILURE_MODE="shrug" must be error, allow, deny or local/,
  ],
  [{ OBJCACHE_HOST_PORT: "h:1" }, /^BACKEND_TYPE must be objcache, because OBJCACHE_HOST_PORT is set/],
  [{ BACKEND_TYPE: "objcache" }, /^OBJCACHE_HOST_PORT must be set \(or OBJCACHE_SRV\)/],
  [
    { BACKEND_TYPE: "memcache", MEMCACHE_HOST_PORT: "h:1", MEMCACHE_SRV: "_a._tcp.b" },
    /^MEMCACHE_SRV="_a._tcp.b" must not be set together with MEMCACHE_HOST_PORT/,
  ],
  [
    { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1,h" },
    /^OBJCACHE_HOST_PORT="h:1,h" must be host:port items.*invalid: "h"/,
  ],
  [
    { BACKEND_TYPE: "objcache", OBJCACHE_SRV: "cache" },
    /^OBJCACHE_SRV="cache" must be the name of an SRV record/,
  ],
  [
    { CONFIG_TYPE: "GRPC_XDS_SOTW", XDS_CLIENT_BACKOFF_INITIAL_INTERVAL: "5m" },
    /^XDS_CLIENT_BACKOFF_MAX_INTERVAL must not be shorter/,
  ],
  [
    { CONFIG_TYPE: "GRPC_XDS_SOTW", CONFIG_GRPC_XDS_SERVER_URL: "http://h:1" },
    /^CONFIG_GRPC_XDS_SERVER_URL="http:\/\/h:1" must be host:port/,
  ],
  [
    {
      CONFIG_TYPE: "GRPC_XDS_SOTW",
      CONFIG_GRPC_XDS_SERVER_USE_TLS: "true",
      CONFIG_GRPC_XDS_CLIENT_TLS_CERT: "c",
    },
    /^CONFIG_GRPC_XDS_CLIENT_TLS_KEY must be set/,
  ],
  [
    { CONFIG_TYPE: "GRPC_XDS_SOTW", CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: "grpc-x:1" },
    /^CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS="\[hidden\]" must contain header names/,
  ],
  [{ LIMIT_RESET_HEADER: "Reset In" }, /^LIMIT_RESET_HEADER="Reset In" must be a valid header name/],
  [{ PULLSTATS_PATH: "metrics" }, /^PULLSTATS_PATH="metrics" must begin with a \//],
  [{ AGENTSTATS_MOGRIFIERS: "a" }, /^AGENTSTATS_MOGRIFIER_A_PATTERN must be set/],
  [
    { USE_DOG_STATSD_MOGRIFIERS: "a", DOG_STATSD_MOGRIFIER_A_PATTERN: "(", DOG_STATSD_MOGRIFIER_A_NAME: "n" },
    /^DOG_STATSD_MOGRIFIER_A_PATTERN="\(" must be a regular expression/,
  ],
  [
    {
      AGENTSTATS_MOGRIFIERS: "a",
      AGENTSTATS_MOGRIFIER_A_PATTERN: "x",
      AGENTSTATS_MOGRIFIER_A_NAME: "n",
      AGENTSTATS_MOGRIFIER_A_TAGS: "domain:",
    },
    /^AGENTSTATS_MOGRIFIER_A_TAGS="domain:" must contain a value for the tag domain/,
  ],
  [{ STATSD_PORT: "tcp://10.0.0.1:8125" }, /^STATSD_PORT="tcp:.* set enableServiceLinks to false/],
];

for (const [environment, message] of refused)
  test(`${JSON.stringify(environment)} is refused`, () => {
    const faults = faultsOf(environment);
    assert.ok(
      faults.some((fault) => message.test(fault)),
      faults.join("\n"),
    );
  });

test("key prefixes that the stores accept", () => {
  for (const CACHE_KEY_PREFIX of ["x".repeat(150), "é".repeat(75), "{rl}:"]) {
    assert.deepEqual(faultsOf({ BACKEND_TYPE: "embedded", CACHE_KEY_PREFIX }), []);
    assert.deepEqual(faultsOf({ BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1", CACHE_KEY_PREFIX }), []);
  }
  assert.deepEqual(faultsOf({ KVSTORE_URL: "h:1", CACHE_KEY_PREFIX: "a b\t" }), []);
});

test("all faults are reported together, one per line", () => {
  const environment = { PORT: "x", TRACING_ENABLED: "1", KVSTORE_URL: "nowhere", DEBUG_PORT: "-1", HOST: "" };
  const faults = faultsOf(environment);
  assert.deepEqual(
    faults.map((fault) => fault.split("=")[0]),
    ["PORT", "DEBUG_PORT", "TRACING_ENABLED", "KVSTORE_URL"],
  );
  assert.throws(() => loadSettings(environment), {
    message: /^4 faults in the settings:\n {2}PORT="x" must/,
  });
});

/** Environments that are accepted with a warning. */
const warned: [environment: Env, line: RegExp][] = [
  [
    { KVSTORE_URL: "h:1", KVSTORE_PIPELINE_LIMIT: "8" },
    /^KVSTORE_PIPELINE_LIMIT is deprecated and has no effect/,
  ],
  [
    { REDIS_URL: "h:1", REDIS_SENTINEL_AUTH: "x" },
    /^REDIS_SENTINEL_AUTH has no effect, because KVSTORE_TYPE is single/,
  ],
  [
    { KVSTORE_URL: "h:1", KVSTORE_PERSECOND_POOL_SIZE: "3" },
    /because KVSTORE_PERSECOND is not true: KVSTORE_PERSECOND_POOL_SIZE/,
  ],
  [{ KVSTORE_URL: "h:1", KVSTORE_TLS_CACERT: "f" }, /because KVSTORE_TLS is not true: KVSTORE_TLS_CACERT/],
  [{ BACKEND_TYPE: "embedded", REDIS_URL: "h:1" }, /because BACKEND_TYPE is embedded: REDIS_URL/],
  [
    { KVSTORE_URL: "h:1", OBJCACHE_HOST_PORT: "h:2" },
    /the back end is the key-value store: OBJCACHE_HOST_PORT/,
  ],
  [
    { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1", OBJCACHE_SRV_REFRESH: "1m" },
    /^OBJCACHE_SRV_REFRESH has no effect/,
  ],
  [{ GRPC_UDS: "/tmp/s", GRPC_PORT: "1" }, /^GRPC_PORT has no effect, because GRPC_UDS is set/],
  [{ GRPC_SERVER_TLS_CERT: "c" }, /^GRPC_SERVER_TLS_CERT has no effect/],
  [{ HTTP_SERVER_TLS_KEY: "c" }, /^HTTP_SERVER_TLS_KEY has no effect/],
  [
    { HTTP_ENABLED: "false", PORT: "8081", HTTP_CLIENT_TLS_CACERT: "ca" },
    /^settings without effect, because HTTP_ENABLED is false: PORT, HTTP_CLIENT_TLS_CACERT$/,
  ],
  [{ DRAIN_DELAY: "1m" }, /^DRAIN_DELAY is not shorter than SHUTDOWN_TIMEOUT/],
  [
    { CONFIG_TYPE: "grpc_xds_sotw", CONFIG_GRPC_XDS_SERVER_TLS_SAN: "x" },
    /USE_TLS is not true: CONFIG_GRPC_XDS_SERVER_TLS_SAN/,
  ],
  [
    { AGENTSTATS_MOGRIFIER_B_PATTERN: "x" },
    /the list of mogrifiers does not name their mogrifiers: AGENTSTATS_MOGRIFIER_B_PATTERN/,
  ],
  [
    { KVSTORE_POOL_SZE: "1" },
    /^KVSTORE_POOL_SZE is not a setting and has no effect; did you mean KVSTORE_POOL_SIZE\?/,
  ],
  [{ REDIS_POL_SIZE: "1" }, /did you mean REDIS_POOL_SIZE\?/],
  [{ log_level: "debug" }, /^log_level is not a setting and has no effect; did you mean LOG_LEVEL\?/],
  [{ SHADOWMODE: "true" }, /did you mean SHADOW_MODE\?/],
  [{ RUNTIME_SOMETHING_ELSE: "1" }, /^RUNTIME_SOMETHING_ELSE is not a setting and has no effect$/],
];

for (const [environment, line] of warned)
  test(`${JSON.stringify(environment)} gives a warning`, () => {
    const { warnings } = loadSettings(environment);
    assert.ok(
      warnings.some((warning) => line.test(warning)),
      warnings.join("\n"),
    );
  });

test("variables of other programs cause no warning", () => {
  const environment = {
    PATH: "/bin",
    HOSTNAME: "pod-1",
    GRPC_TRACE: "all",
    GRPC_VERBOSITY: "debug",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://h:4318",
    REDIS_SERVICE_HOST: "10.0.0.1",
    REDIS_PORT: "tcp://10.0.0.1:6379",
    REDIS_PORT_6379_TCP: "tcp://10.0.0.1:6379",
    REDIS_PORT_6379_TCP_ADDR: "10.0.0.1",
    LOG_FILE: "x",
    KVSTORE_NONSENSE: "",
    BACKEND_TYPE: "embedded",
  };
  assert.deepEqual(loadSettings(environment).warnings, []);
});

test("lines name the variables of the Go service that have no meaning here, and say why", () => {
  const { warnings, infos } = loadSettings({
    BACKEND_TYPE: "embedded",
    REDIS_STARTUP_MAX_INTERVAL: "30s",
    REDIS_STARTUP_INITIAL_INTERVAL: "1s",
    REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM: "2",
    REDIS_CLUSTER_PIPELINE_PARALLELISM: "",
    GOSTATS_FLUSH_INTERVAL_SECONDS: "5",
  });
  const ignored = "ignored variables of the Go service, because";
  assert.deepEqual(warnings, [
    `${ignored} the delay between two attempts to connect always grows from 25 ms to 1 s: REDIS_STARTUP_INITIAL_INTERVAL, REDIS_STARTUP_MAX_INTERVAL`,
    `${ignored} the batches to the servers of a cluster always go out at the same time: REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM`,
  ]);
  assert.deepEqual(infos, [`${ignored} they have no meaning here: GOSTATS_FLUSH_INTERVAL_SECONDS`]);
});

test("STORE_REQUIRED_AT_START: by default a remote store whose failure mode is error", () => {
  const kvstore = { KVSTORE_URL: "h:1" };
  const objcache = { BACKEND_TYPE: "objcache", OBJCACHE_HOST_PORT: "h:1" };
  const cases: [Record<string, string>, boolean][] = [
    [{ BACKEND_TYPE: "embedded" }, false],
    [kvstore, true],
    [objcache, true],
    ...["allow", "deny", "local"].flatMap((mode): [Record<string, string>, boolean][] => [
      [{ ...kvstore, KVSTORE_FAILURE_MODE: mode }, false],
      [{ ...objcache, OBJCACHE_FAILURE_MODE: mode }, false],
      [{ ...kvstore, KVSTORE_FAILURE_MODE: mode, STORE_REQUIRED_AT_START: "true" }, true],
    ]),
    [{ ...kvstore, STORE_REQUIRED_AT_START: "false" }, false],
    [{ ...objcache, STORE_REQUIRED_AT_START: "false" }, false],
  ];
  for (const [environment, required] of cases)
    assert.equal(
      loadSettings(environment).settings.store.requiredAtStart,
      required,
      JSON.stringify(environment),
    );
});

test("settings of remote stores have no effect on counters of this process", () => {
  const environment = {
    BACKEND_TYPE: "embedded",
    STORE_REQUIRED_AT_START: "true",
    CACHE_KEY_FORMAT: "compatible",
  };
  const { settings, warnings } = loadSettings(environment);
  assert.equal(settings.store.requiredAtStart, false);
  assert.deepEqual(warnings, [
    "STORE_REQUIRED_AT_START has no effect, because hits are counted in this process",
    "CACHE_KEY_FORMAT has no effect, because hits are counted in this process",
  ]);
});

test("an empty value counts as unset", () => {
  const { settings, given } = loadSettings({
    PORT: "",
    KVSTORE_URL: "",
    REDIS_URL: "h:1",
    TRACING_ENABLED: "",
  });
  assert.equal(settings.http?.port, 8080);
  assert.equal(given.get("KVSTORE_URL"), "REDIS_URL");
  assert.equal(given.has("PORT"), false);
});

test("two names of one setting may have the same value", () => {
  const { settings, given } = loadSettings({ USE_STATSD: "1", USE_PUSHSTATS: "true" });
  assert.ok(settings.stats.push);
  assert.equal(given.get("USE_PUSHSTATS"), "USE_PUSHSTATS");
  assert.equal(faultsOf({ KVSTORE_URL: "h:1", KVSTORE_AUTH: "a", REDIS_AUTH: "b" }).length, 1);
  assert.equal(faultsOf({ KVSTORE_URL: "h:1", KVSTORE_AUTH: "a", REDIS_AUTH: "a" }).length, 0);
});

test("the names of statistics follow the name that sets the store", () => {
  const kvstore = (environment: Env) => loadSettings(environment).settings.kvstore?.statisticsName;
  assert.equal(kvstore({ KVSTORE_URL: "h:1", REDIS_POOL_SIZE: "3" }), "kvstore");
  assert.equal(kvstore({ REDIS_URL: "h:1" }), "redis");
  const objcache = (environment: Env) => loadSettings(environment).settings.objcache?.statisticsName;
  assert.equal(objcache({ BACKEND_TYPE: "memcache", OBJCACHE_HOST_PORT: "h:1" }), "objcache");
  assert.equal(objcache({ BACKEND_TYPE: "objcache", MEMCACHE_SRV: "_m._tcp.h" }), "memcache");
});

test("the per-second instance has its own defaults and inherits the TLS files", () => {
  const { kvstore } = loadSettings({
    KVSTORE_URL: "h:1",
    KVSTORE_POOL_SIZE: "50",
    KVSTORE_TIMEOUT: "1s",
    KVSTORE_AUTH: "main",
    KVSTORE_TLS: "true",
    KVSTORE_TLS_CACERT: "/ca",
    KVSTORE_PERSECOND: "true",
    KVSTORE_PERSECOND_URL: "p:1",
    KVSTORE_PERSECOND_TLS: "true",
    KVSTORE_PERSECOND_TLS_SKIP_HOSTNAME_VERIFICATION: "true",
  }).settings;
  const { perSecond } = kvstore!;
  assert.deepEqual(
    [perSecond?.poolSize, perSecond?.timeout, perSecond?.auth, perSecond?.tls?.caCert],
    [10, 10_000, undefined, "/ca"],
  );
  assert.equal(perSecond?.tls?.skipHostnameVerification, true);
  assert.equal(kvstore?.main.tls?.skipHostnameVerification, false);
});

test("the per-second instance inherits the main instance's certificate and key only as a pair", () => {
  const environment = {
    KVSTORE_URL: "h:1",
    KVSTORE_TLS_CACERT: "/ca",
    KVSTORE_TLS_CLIENT_CERT: "/cert",
    KVSTORE_TLS_CLIENT_KEY: "/key",
    KVSTORE_PERSECOND: "true",
    KVSTORE_PERSECOND_URL: "p:1",
    KVSTORE_PERSECOND_TLS: "true",
  };
  const { settings, warnings } = loadSettings(environment);
  assert.deepEqual(warnings, []);
  assert.equal(settings.kvstore?.main.tls, undefined);
  assert.deepEqual(settings.kvstore?.perSecond?.tls, {
    cert: "/cert",
    key: "/key",
    caCert: "/ca",
    skipHostnameVerification: false,
  });
  assert.deepEqual(faultsOf({ ...environment, KVSTORE_PERSECOND_TLS_CLIENT_CERT: "/own" }), [
    "KVSTORE_PERSECOND_TLS_CLIENT_KEY must be set, because KVSTORE_PERSECOND_TLS_CLIENT_CERT is set",
  ]);
});

const auths: [text: string, user: string | undefined, password: string][] = [
  ["pass", undefined, "pass"],
  ["user:pass", "user", "pass"],
  ["user:pa:ss", "user", "pa:ss"],
  [":pa:ss", undefined, "pa:ss"],
];
for (const [text, user, password] of auths)
  test(`KVSTORE_AUTH=${text} is the user ${user} with the password ${password}`, () => {
    const auth = loadSettings({ KVSTORE_URL: "redis://other:word@h:1", KVSTORE_AUTH: text }).settings.kvstore
      ?.main.auth;
    assert.deepEqual([auth?.user, auth?.password.reveal()], [user, password]);
  });

test("the settings select the statistics sinks", () => {
  const sinks = (environment: Env): string => {
    const { push, agent, pull, standardOutput } = loadSettings(environment).settings.stats;
    return Object.entries({ push, agent, pull, standardOutput })
      .filter(([, on]) => on)
      .map(([name]) => name)
      .join("+");
  };
  for (const [environment, on] of [
    [{}, "push"],
    [{ USE_PUSHSTATS: "false" }, "standardOutput"],
    [{ USE_PULLSTATS: "true" }, "pull"],
    [{ USE_DOG_STATSD: "true" }, "agent"],
    [{ USE_AGENTSTATS: "true", USE_PULLSTATS: "true", USE_STATSD: "true" }, "push+agent+pull"],
    [{ USE_PULLSTATS: "true", USE_PUSHSTATS: "false" }, "pull"],
    [{ DISABLE_STATS: "true", USE_PULLSTATS: "true", USE_PUSHSTATS: "true" }, ""],
    [{ DISABLE_STATS: "true", USE_PUSHSTATS: "false" }, ""],
  ] as const)
    assert.equal(sinks(environment), on, JSON.stringify(environment));
});

test("mogrifiers keep the order of the list and are read under both name prefixes", () => {
  const { agent } = loadSettings({
    USE_AGENTSTATS: "true",
    USE_AGENTSTATS_MOGRIFIERS: "second,First",
    AGENTSTATS_MOGRIFIER_FIRST_PATTERN: "^ratelimit\\.(.*)$",
    AGENTSTATS_MOGRIFIER_FIRST_NAME: "rl.$1",
    DOG_STATSD_MOGRIFIER_SECOND_PATTERN: "x",
    DOG_STATSD_MOGRIFIER_SECOND_NAME: "y",
    DOG_STATSD_MOGRIFIER_SECOND_TAGS: "domain:$1,fixed:a:b",
  }).settings.stats;
  assert.deepEqual(agent?.mogrifiers, [
    {
      name: "second",
      pattern: "x",
      replacement: "y",
      tags: [
        ["domain", "$1"],
        ["fixed", "a:b"],
      ],
    },
    { name: "First", pattern: "^ratelimit\\.(.*)$", replacement: "rl.$1", tags: [] },
  ]);
});

test("printed settings and faults show no credentials", () => {
  const environment = {
    KVSTORE_URL: "redis://user:hush-url@h:1",
    KVSTORE_AUTH: "user:hush-auth",
    KVSTORE_SENTINEL_AUTH: "hush-sentinel",
    CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: "authorization:hush-header",
  };
  const loaded = loadSettings(environment);
  const faults = faultsOf({
    ...environment,
    PORT: "x",
    KVSTORE_TYPE: "sentinel",
    REDIS_AUTH: "hush-other",
    BACKEND_TYPE: "kvstore",
  });
  assert.ok(faults.length >= 3, faults.join("\n"));
  const printed = [
    inspect(loaded, { depth: 20, showHidden: true }),
    JSON.stringify(loaded.settings),
    `${loaded.settings.kvstore?.main.auth?.password}`,
    loaded.warnings.join("\n"),
    faults.join("\n"),
  ].join("\n");
  assert.doesNotMatch(printed, /hush/);
  assert.equal(loaded.settings.kvstore?.main.auth?.password.reveal(), "hush-auth");
});

/** Environments of deployments of the Go service. They must load without faults and warnings. */
const manifests: Record<string, Env> = {
  "one store": {
    USE_STATSD: "false",
    LOG_LEVEL: "debug",
    REDIS_SOCKET_TYPE: "tcp",
    REDIS_URL: "redis:6379",
    RUNTIME_ROOT: "/data",
    RUNTIME_SUBDIRECTORY: "ratelimit",
    RUNTIME_WATCH_ROOT: "false",
  },
  "sentinel, and a cluster for per-second limits": {
    REDIS_TYPE: "SENTINEL",
    REDIS_SOCKET_TYPE: "tcp",
    REDIS_URL: "mymaster,sentinel-0:26379,sentinel-1:26379",
    REDIS_SENTINEL_AUTH: "sentinel-password",
    REDIS_POOL_SIZE: "5",
    REDIS_PERSECOND: "true",
    REDIS_PERSECOND_TYPE: "CLUSTER",
    REDIS_PERSECOND_SOCKET_TYPE: "tcp",
    REDIS_PERSECOND_URL: "node-0:6379,node-1:6379",
    REDIS_PERSECOND_PIPELINE_WINDOW: "150us",
    EXPIRATION_JITTER_MAX_SECONDS: "0",
  },
  "memcached and prometheus": {
    BACKEND_TYPE: "memcache",
    MEMCACHE_HOST_PORT: "memcached:11211",
    USE_STATSD: "false",
    USE_PROMETHEUS: "true",
    PROMETHEUS_ADDR: ":9090",
    PROMETHEUS_PATH: "/metrics",
  },
  "a management server and an agent": {
    CONFIG_TYPE: "GRPC_XDS_SOTW",
    CONFIG_GRPC_XDS_NODE_ID: "ratelimit-node",
    CONFIG_GRPC_XDS_SERVER_URL: "control-plane:18000",
    CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: "1s",
    REDIS_URL: "redis:6379",
    USE_STATSD: "false",
    USE_DOG_STATSD: "true",
    USE_DOG_STATSD_MOGRIFIERS: "LIMIT",
    DOG_STATSD_MOGRIFIER_LIMIT_PATTERN: "^ratelimit\\.service\\.rate_limit\\.(.*)\\.(.*)\\.(.*)$",
    DOG_STATSD_MOGRIFIER_LIMIT_NAME: "ratelimit.service.rate_limit.$3",
    DOG_STATSD_MOGRIFIER_LIMIT_TAGS: "domain:$1,descriptor:$2",
    DD_AGENT_HOST: "agent",
  },
};
for (const [name, environment] of Object.entries(manifests))
  test(`a deployment of the Go service switches over unchanged: ${name}`, () =>
    assert.deepEqual(loadSettings(environment).warnings, []));
