import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSettings } from "./load-settings.ts";
import { rowsOf } from "./read-values.ts";
import { table } from "./table.ts";

/** The published names and the defaults as printed in the manual; empty for none. */
const published: Record<string, string> = {
  CONFIG_TYPE: "FILE",
  FORCE_START_WITHOUT_INITIAL_CONFIG: "false",
  MERGE_DOMAIN_CONFIG: "false",
  LOG_FORMAT: "text",
  LOG_LEVEL: "warn",
  HOST: "0.0.0.0",
  PORT: "8080",
  GRPC_HOST: "0.0.0.0",
  GRPC_PORT: "8081",
  GRPC_UDS: "",
  DEBUG_HOST: "0.0.0.0",
  DEBUG_ALLOWED_HOSTS: "",
  DEBUG_PROFILES: "true",
  DEBUG_WRITES: "true",
  DEBUG_PORT: "6070",
  GRPC_MAX_CONNECTION_AGE: "24h",
  GRPC_MAX_CONNECTION_AGE_GRACE: "1h",
  SHADOW_MODE: "false",
  LOCAL_CACHE_SIZE_IN_BYTES: "0",
  STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: "false",
  CACHE_KEY_PREFIX: "",
  BACKEND_TYPE: "kvstore if `KVSTORE_URL` is set, otherwise embedded",
  LIMIT_RESPONSE_HEADERS_ENABLED: "false",
  LIMIT_LIMIT_HEADER: "RateLimit-Limit",
  LIMIT_REMAINING_HEADER: "RateLimit-Remaining",
  LIMIT_RESET_HEADER: "RateLimit-Reset",
  USE_CALENDAR_MONTH_RATE_LIMIT: "false",
  HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: "false",
  RUNTIME_ROOT: "/srv/runtime_data/current",
  RUNTIME_SUBDIRECTORY: "",
  RUNTIME_APPDIRECTORY: "config",
  RUNTIME_IGNOREDOTFILES: "false",
  RUNTIME_WATCH_ROOT: "true",
  CONFIG_GRPC_XDS_NODE_ID: "default",
  CONFIG_GRPC_XDS_NODE_METADATA: "",
  CONFIG_GRPC_XDS_SERVER_URL: "localhost:18000",
  CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL: "3s",
  XDS_CLIENT_BACKOFF_JITTER: "true",
  XDS_CLIENT_BACKOFF_INITIAL_INTERVAL: "10s",
  XDS_CLIENT_BACKOFF_MAX_INTERVAL: "1m",
  XDS_CLIENT_BACKOFF_RANDOM_FACTOR: "0.5",
  XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES: "0",
  CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: "",
  CONFIG_GRPC_XDS_SERVER_USE_TLS: "false",
  CONFIG_GRPC_XDS_CLIENT_TLS_CERT: "",
  CONFIG_GRPC_XDS_CLIENT_TLS_KEY: "",
  CONFIG_GRPC_XDS_SERVER_TLS_CACERT: "the CAs of the system and of Node",
  CONFIG_GRPC_XDS_SERVER_TLS_SAN: "the host of `CONFIG_GRPC_XDS_SERVER_URL`",
  USE_PUSHSTATS: "true",
  DISABLE_STATS: "false",
  STATS_FLUSH_INTERVAL: "10s",
  NEAR_LIMIT_RATIO: "0.8",
  EXTRA_TAGS: "",
  USE_AGENTSTATS: "false",
  AGENTSTATS_MOGRIFIERS: "",
  USE_PULLSTATS: "false",
  PULLSTATS_ADDR: ":9090",
  PULLSTATS_PATH: "/metrics",
  PULLSTATS_MAPPER_YAML: "",
  KVSTORE_SOCKET_TYPE: "unix if the address is a path, otherwise tcp",
  KVSTORE_URL: "",
  KVSTORE_TYPE: "single",
  KVSTORE_POOL_SIZE: "10",
  KVSTORE_TIMEOUT: "10s",
  KVSTORE_POOL_ON_EMPTY_BEHAVIOR: "CREATE",
  KVSTORE_POOL_ON_EMPTY_WAIT_DURATION: "1s",
  KVSTORE_PIPELINE_WINDOW: "0s",
  KVSTORE_PIPELINE_LIMIT: "",
  KVSTORE_PERSECOND: "false",
  KVSTORE_TLS: "false",
  KVSTORE_TLS_CLIENT_CERT: "",
  KVSTORE_TLS_CLIENT_KEY: "",
  KVSTORE_TLS_CACERT: "the CAs of the system and of Node",
  KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION: "false",
  KVSTORE_AUTH: "",
  KVSTORE_SENTINEL_AUTH: "",
  KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: "false",
  KVSTORE_PERSECOND_SOCKET_TYPE: "unix if the address is a path, otherwise tcp",
  KVSTORE_PERSECOND_URL: "",
  KVSTORE_PERSECOND_TYPE: "single",
  KVSTORE_PERSECOND_POOL_SIZE: "10",
  KVSTORE_PERSECOND_TIMEOUT: "10s",
  KVSTORE_PERSECOND_POOL_ON_EMPTY_BEHAVIOR: "CREATE",
  KVSTORE_PERSECOND_POOL_ON_EMPTY_WAIT_DURATION: "1s",
  KVSTORE_PERSECOND_PIPELINE_WINDOW: "0s",
  KVSTORE_PERSECOND_PIPELINE_LIMIT: "",
  KVSTORE_PERSECOND_TLS: "false",
  KVSTORE_PERSECOND_AUTH: "",
  KVSTORE_PERSECOND_SENTINEL_AUTH: "",
  KVSTORE_PERSECOND_TLS_CLIENT_CERT: "the main instance's",
  KVSTORE_PERSECOND_TLS_CLIENT_KEY: "the main instance's",
  KVSTORE_PERSECOND_TLS_CACERT: "the main instance's",
  KVSTORE_PERSECOND_TLS_SKIP_HOSTNAME_VERIFICATION: "the main instance's",
  OBJCACHE_HOST_PORT: "",
  OBJCACHE_SRV: "",
  OBJCACHE_SRV_REFRESH: "0s",
  OBJCACHE_MAX_IDLE_CONNS: "2",
  OBJCACHE_TLS: "false",
  OBJCACHE_TLS_CLIENT_CERT: "",
  OBJCACHE_TLS_CLIENT_KEY: "",
  OBJCACHE_TLS_CACERT: "the CAs of the system and of Node",
  OBJCACHE_TLS_SKIP_HOSTNAME_VERIFICATION: "false",
  TRACING_ENABLED: "false",
  TRACING_EXPORTER_PROTOCOL: "http",
  TRACING_SERVICE_NAME: "RateLimit",
  TRACING_SERVICE_NAMESPACE: "",
  TRACING_SERVICE_INSTANCE_ID: "a random UUID (version 4)",
  TRACING_SAMPLING_RATE: "1",
  HTTP_ENABLED: "true",
  HTTP_SERVER_USE_TLS: "false",
  HTTP_SERVER_TLS_CERT: "",
  HTTP_SERVER_TLS_KEY: "",
  HTTP_CLIENT_TLS_CACERT: "",
  HTTP_CLIENT_TLS_SAN: "",
  GRPC_SERVER_USE_TLS: "false",
  GRPC_SERVER_TLS_CERT: "",
  GRPC_SERVER_TLS_KEY: "",
  GRPC_CLIENT_TLS_CACERT: "",
  GRPC_CLIENT_TLS_SAN: "",
  EMBEDDED_STORE_SIZE_IN_BYTES: "268435456",
  EMBEDDED_STORE_SNAPSHOT: "",
  EXPIRATION_JITTER_MAX_SECONDS: "300",
  GRPC_UDS_MODE: "by the process's umask",
  STORE_REQUIRED_AT_START: "true if a remote store's failure mode is `error`, otherwise false",
  CACHE_KEY_FORMAT: "tollgate",
  KVSTORE_STARTUP_MAX_ELAPSED_TIME: "0s",
  KVSTORE_FAILURE_MODE: "error",
  OBJCACHE_FAILURE_MODE: "error",
  OBJCACHE_LONG_KEYS: "hash",
  STATS_MAX_DYNAMIC_KEYS: "100000",
  MAX_REQUEST_SIZE_IN_BYTES: "262144",
  MAX_DESCRIPTORS: "100",
  MAX_ENTRIES_PER_DESCRIPTOR: "32",
  OVERSIZED_REQUEST: "error",
  DRAIN_DELAY: "0s",
  SHUTDOWN_TIMEOUT: "30s",
  QUOTA_MODE: "false",
  RESPONSE_DYNAMIC_METADATA: "false",
  LIMIT_RESPONSE_HEADERS_FORMAT: "separate",
  PUSHSTATS_HOST: "localhost",
  PUSHSTATS_PORT: "8125",
  PUSHSTATS_PROTOCOL: "tcp",
  PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS: "false",
  WORKERS: "the number of cores that the process may use, at most 8",
};

test("the table contains each published setting once, with its default", () => {
  const rows = rowsOf(table);
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.defaultText])), published);
  const names = rows.flatMap((row) => [row.name, ...row.aliases]);
  assert.equal(new Set(names).size, names.length, "two settings have the same name");
});

/** Names of the Go service and the names of our manual. */
const aliases: Record<string, string> = {
  REDIS_URL: "KVSTORE_URL",
  REDIS_SOCKET_TYPE: "KVSTORE_SOCKET_TYPE",
  REDIS_PERSECOND: "KVSTORE_PERSECOND",
  REDIS_PERSECOND_URL: "KVSTORE_PERSECOND_URL",
  REDIS_POOL_ON_EMPTY_BEHAVIOR: "KVSTORE_POOL_ON_EMPTY_BEHAVIOR",
  REDIS_HEALTH_CHECK_ACTIVE_CONNECTION: "KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION",
  REDIS_TLS_SKIP_HOSTNAME_VERIFICATION: "KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION",
  MEMCACHE_HOST_PORT: "OBJCACHE_HOST_PORT",
  MEMCACHE_MAX_IDLE_CONNS: "OBJCACHE_MAX_IDLE_CONNS",
  MEMCACHE_SRV: "OBJCACHE_SRV",
  MEMCACHE_TLS_CACERT: "OBJCACHE_TLS_CACERT",
  USE_STATSD: "USE_PUSHSTATS",
  STATSD_HOST: "PUSHSTATS_HOST",
  STATSD_PORT: "PUSHSTATS_PORT",
  STATSD_PROTOCOL: "PUSHSTATS_PROTOCOL",
  USE_DOG_STATSD: "USE_AGENTSTATS",
  USE_AGENTSTATS_MOGRIFIERS: "AGENTSTATS_MOGRIFIERS",
  USE_DOG_STATSD_MOGRIFIERS: "AGENTSTATS_MOGRIFIERS",
  DOG_STATSD_MOGRIFIERS: "AGENTSTATS_MOGRIFIERS",
  USE_PROMETHEUS: "USE_PULLSTATS",
  PROMETHEUS_ADDR: "PULLSTATS_ADDR",
  PROMETHEUS_PATH: "PULLSTATS_PATH",
  PROMETHEUS_MAPPER_YAML: "PULLSTATS_MAPPER_YAML",
  PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS: "PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS",
  LocalCacheSizeInBytes: "LOCAL_CACHE_SIZE_IN_BYTES",
};

test("every setting of the Go service is read under its name there", () => {
  const known = new Map(rowsOf(table).flatMap((row) => row.aliases.map((alias) => [alias, row.name])));
  for (const [alias, name] of Object.entries(aliases)) assert.equal(known.get(alias), name, alias);
});

test("an empty environment gives the defaults and one warning about the store", () => {
  const { settings, warnings, infos, given } = loadSettings({});
  assert.equal(settings.store.backend, "embedded");
  assert.match(warnings.join("\n"), /^no store is configured: .*BACKEND_TYPE=embedded/);
  assert.deepEqual([warnings.length, infos, given.size], [1, [], 0]);
  assert.match(
    loadSettings({ TRACING_ENABLED: "true" }).settings.tracing!.serviceInstanceId,
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test("the settings are deeply frozen", () => {
  const { settings } = loadSettings({ KVSTORE_URL: "h:1,h:2", KVSTORE_TYPE: "cluster", EXTRA_TAGS: "a:b" });
  const check = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    assert.ok(Object.isFrozen(value), path);
    for (const [key, part] of Object.entries(value)) check(part, `${path}.${key}`);
  };
  check(settings, "settings");
});
