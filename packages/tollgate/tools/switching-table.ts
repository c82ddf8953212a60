/** Renders the tables of settings in docs/switching.md from the settings and a list of the Go service's variables. */
import { aliasesOf, hasNoMeaning } from "../src/settings/kinds/aliases.ts";
import type { Setting } from "../src/settings/kinds/setting.ts";
import { rowsOf } from "../src/settings/read-values.ts";
import { table } from "../src/settings/table.ts";

/** The variables of the Go service (July 2026) with their defaults. It reads the last group with its libraries. */
const GO_DEFAULTS = `
HOST=0.0.0.0 PORT=8080 DEBUG_HOST=0.0.0.0 DEBUG_PORT=6070 GRPC_UDS= GRPC_HOST=0.0.0.0 GRPC_PORT=8081
GRPC_MAX_CONNECTION_AGE=24h GRPC_MAX_CONNECTION_AGE_GRACE=1h GRPC_SERVER_USE_TLS=false GRPC_SERVER_TLS_CERT=
GRPC_SERVER_TLS_KEY= GRPC_CLIENT_TLS_CACERT= GRPC_CLIENT_TLS_SAN= LOG_LEVEL=WARN LOG_FORMAT=text CONFIG_TYPE=FILE
FORCE_START_WITHOUT_INITIAL_CONFIG=false CONFIG_GRPC_XDS_NODE_ID=default CONFIG_GRPC_XDS_NODE_METADATA=
CONFIG_GRPC_XDS_SERVER_URL=localhost:18000 CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL=3s
CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS= CONFIG_GRPC_XDS_SERVER_USE_TLS=false CONFIG_GRPC_XDS_CLIENT_TLS_CERT=
CONFIG_GRPC_XDS_CLIENT_TLS_KEY= CONFIG_GRPC_XDS_SERVER_TLS_CACERT= CONFIG_GRPC_XDS_SERVER_TLS_SAN=
XDS_CLIENT_BACKOFF_INITIAL_INTERVAL=10s XDS_CLIENT_BACKOFF_MAX_INTERVAL=60s XDS_CLIENT_BACKOFF_RANDOM_FACTOR=0.5
XDS_CLIENT_BACKOFF_JITTER=true XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES= USE_DOG_STATSD=false USE_DOG_STATSD_MOGRIFIERS=
USE_STATSD=true STATSD_HOST=localhost STATSD_PORT=8125 EXTRA_TAGS= STATS_FLUSH_INTERVAL=10s DISABLE_STATS=false
USE_PROMETHEUS=false PROMETHEUS_ADDR=:9090 PROMETHEUS_PATH=/metrics PROMETHEUS_MAPPER_YAML=
PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS=false RUNTIME_ROOT=/srv/runtime_data/current RUNTIME_SUBDIRECTORY=
RUNTIME_APPDIRECTORY=config RUNTIME_IGNOREDOTFILES=false RUNTIME_WATCH_ROOT=true EXPIRATION_JITTER_MAX_SECONDS=300
LOCAL_CACHE_SIZE_IN_BYTES=0 NEAR_LIMIT_RATIO=0.8 CACHE_KEY_PREFIX= BACKEND_TYPE=redis
STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT=false LIMIT_RESPONSE_HEADERS_ENABLED=false LIMIT_LIMIT_HEADER=RateLimit-Limit
LIMIT_REMAINING_HEADER=RateLimit-Remaining LIMIT_RESET_HEADER=RateLimit-Reset
HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=false REDIS_SOCKET_TYPE=unix REDIS_TYPE=SINGLE
REDIS_URL=/var/run/nutcracker/ratelimit.sock REDIS_POOL_SIZE=10 REDIS_AUTH= REDIS_TLS=false REDIS_TLS_CLIENT_CERT=
REDIS_TLS_CLIENT_KEY= REDIS_TLS_CACERT= REDIS_TLS_SKIP_HOSTNAME_VERIFICATION=false REDIS_PIPELINE_WINDOW=0
REDIS_PIPELINE_LIMIT=0 REDIS_CLUSTER_PIPELINE_PARALLELISM=1 REDIS_PERSECOND=false REDIS_PERSECOND_SOCKET_TYPE=unix
REDIS_PERSECOND_TYPE=SINGLE REDIS_PERSECOND_URL=/var/run/nutcracker/ratelimitpersecond.sock
REDIS_PERSECOND_POOL_SIZE=10 REDIS_PERSECOND_AUTH= REDIS_PERSECOND_TLS=false REDIS_SENTINEL_AUTH=
REDIS_PERSECOND_SENTINEL_AUTH= REDIS_PERSECOND_PIPELINE_WINDOW=0 REDIS_PERSECOND_PIPELINE_LIMIT=0
REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM=1 REDIS_HEALTH_CHECK_ACTIVE_CONNECTION=false REDIS_TIMEOUT=10s
REDIS_PERSECOND_TIMEOUT=10s REDIS_POOL_ON_EMPTY_BEHAVIOR=WAIT REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR=WAIT
REDIS_STARTUP_INITIAL_INTERVAL=1s REDIS_STARTUP_MAX_INTERVAL=30s REDIS_STARTUP_MAX_ELAPSED_TIME=0
MEMCACHE_HOST_PORT= MEMCACHE_MAX_IDLE_CONNS=2 MEMCACHE_SRV= MEMCACHE_SRV_REFRESH=0 MEMCACHE_TLS=false
MEMCACHE_TLS_CLIENT_CERT= MEMCACHE_TLS_CLIENT_KEY= MEMCACHE_TLS_CACERT=
MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION=false SHADOW_MODE=false QUOTA_MODE=false RESPONSE_DYNAMIC_METADATA=false
MERGE_DOMAIN_CONFIG=false USE_CALENDAR_MONTH_RATE_LIMIT=false TRACING_ENABLED=false TRACING_SERVICE_NAME=RateLimit TRACING_SERVICE_NAMESPACE=
TRACING_SERVICE_INSTANCE_ID= TRACING_EXPORTER_PROTOCOL=http TRACING_SAMPLING_RATE=1
STATSD_PROTOCOL=tcp GOSTATS_FLUSH_INTERVAL_SECONDS=5 GOSTATS_LOGGING_SINK_DISABLED=false`;

/** Differences other than the default. A note for `X` also applies to `PERSECOND_X`. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  GRPC_UDS: "The service replaces a stale socket. The Go service fails to start.",
  GRPC_CLIENT_TLS_CACERT: "Only this CA is trusted. The Go service also trusts every CA of the system.",
  CONFIG_TYPE: "In any case.",
  FORCE_START_WITHOUT_INITIAL_CONFIG:
    "With `false`, an invalid first configuration keeps the ports shut. The Go service opens them and fails every call.",
  CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL:
    "The timeout of one attempt to connect. It has no effect in the Go service.",
  CONFIG_GRPC_XDS_SERVER_TLS_CACERT: "Replaces the CAs of the system. The Go service adds it to them.",
  XDS_CLIENT_BACKOFF_RANDOM_FACTOR:
    "The delay grows by this share with each attempt. In the Go service the default keeps it constant.",
  XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES: "0 means 4 MiB, as in the Go service.",
  USE_STATSD: "Another sink turns it off, unless it is set. The Go service refuses to start with two sinks.",
  STATSD_HOST: "With `STATSD_PROTOCOL=unix`, the path of a stream socket.",
  DISABLE_STATS: "`/stats` on the debug port still shows the statistics.",
  PROMETHEUS_MAPPER_YAML: "A file that cannot be used is a startup error. The Go service ignores it.",
  RUNTIME_ROOT: "A missing directory keeps the ports shut. The Go service stops, or loads no limits.",
  RUNTIME_SUBDIRECTORY:
    "May be empty. With `RUNTIME_WATCH_ROOT=true` and an empty value the Go service loads no limits.",
  RUNTIME_APPDIRECTORY: "Only `*.yaml` directly inside it. The Go service reads every file, also in folders.",
  LOCAL_CACHE_SIZE_IN_BYTES: "The exact size. The Go service uses at least 512 KiB.",
  NEAR_LIMIT_RATIO: "From 0 to 1.",
  CACHE_KEY_PREFIX: "At most 150 bytes.",
  BACKEND_TYPE:
    "Without a URL, counts in this process and says so. The Go service waits for a proxy's socket.",
  STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT:
    "Atomic on one server and for each slot of a cluster. Also works with memcached.",
  REDIS_SOCKET_TYPE: "Follows from the address.",
  REDIS_URL: "Has no default.",
  REDIS_TIMEOUT: "Also bounds writing, reading and waiting for a connection.",
  REDIS_TLS_CACERT: "Replaces the CAs of the system. The Go service adds it to them.",
  REDIS_PIPELINE_WINDOW: "Works for every type. In the Go service only for a cluster.",
  REDIS_PIPELINE_LIMIT: "Deprecated, without effect in both. A warning names it.",
  REDIS_POOL_ON_EMPTY_BEHAVIOR: "`CREATE` and `ERROR` work. The Go service refuses to start with them.",
  REDIS_HEALTH_CHECK_ACTIVE_CONNECTION: "Each instance has its own component.",
  REDIS_STARTUP_INITIAL_INTERVAL: "Ignored with a warning: the delay grows from 25 ms to 1 s.",
  REDIS_STARTUP_MAX_INTERVAL: "Ignored with a warning: the delay grows from 25 ms to 1 s.",
  REDIS_STARTUP_MAX_ELAPSED_TIME: "Applies where `STORE_REQUIRED_AT_START` is on.",
  REDIS_CLUSTER_PIPELINE_PARALLELISM:
    "Ignored with a warning: batches to all servers go out at the same time.",
  MEMCACHE_TLS_CACERT: "Replaces the CAs of the system. The Go service adds it to them.",
  TRACING_ENABLED: "Only `true` and `false`.",
  GOSTATS_FLUSH_INTERVAL_SECONDS: "Ignored.",
  GOSTATS_LOGGING_SINK_DISABLED: "Ignored.",
};

/** Names of the Go service with our settings; undefined for an ignored variable. */
function goVariables(): { name: string; fallback: string; row: Setting<unknown> | undefined }[] {
  const rows = new Map(rowsOf(table).flatMap((row) => [row.name, ...row.aliases].map((name) => [name, row])));
  return GO_DEFAULTS.trim()
    .split(/\s+/)
    .map((item) => {
      const [, name, fallback] = /^(\w+)=(.*)$/.exec(item)!;
      return { name: name!, fallback: fallback!, row: rows.get(name!) };
    });
}

/** @throws {Error} for a setting with a name of the Go service that the list lacks, or the reverse */
export function switchingTables(): string {
  const variables = goVariables();
  const listed = new Set(variables.map(({ row }) => row));
  const lines = [
    "| Variable | Status | Default there | Default here | Difference |",
    "|---|---|---|---|---|",
  ];
  for (const { name, fallback, row } of variables) {
    if (row === undefined && !hasNoMeaning(name)) throw new Error(`${name} is neither a setting nor ignored`);
    const note = DIFFERENCES[name] ?? DIFFERENCES[name.replace("_PERSECOND_", "_")] ?? "";
    const here = row === undefined ? "" : row.defaultText;
    const isSame = note === "" && normal(fallback) === normal(here);
    const status = row === undefined ? "ignored" : isSame ? "same" : "different";
    lines.push(`| \`${name}\` | ${status} | ${shown(fallback)} | ${shown(here)} | ${note} |`);
  }
  const own = rowsOf(table).filter((row) => !listed.has(row));
  const goNamed = own.filter(({ name }) =>
    aliasesOf(name).some((alias) => GO_DEFAULTS.includes(`${alias}=`)),
  );
  if (goNamed.length > 0) throw new Error(`not listed: ${goNamed.map(({ name }) => name).join(", ")}`);
  const ownLines = own.map((row) => `| \`${row.name}\` | ${shown(row.defaultText)} |`);
  return [
    ...lines,
    "",
    "Settings that the Go service does not have, as their [descriptions](settings.md) explain:",
    "",
    "| Setting | Default |",
    "|---|---|",
    ...ownLines,
  ].join("\n");
}

/** Two spellings of one default: `WARN` and `warn`, `0` and `0s`, `60s` and `1m`. */
function normal(text: string): string {
  return { "60s": "1m", "0": "0s" }[text] ?? text.toLowerCase();
}

function shown(text: string): string {
  return text === "" || text.includes(" ") ? text : `\`${text}\``;
}

const BEGIN =
  "<!-- The settings: written by `npm run manual -w packages/tollgate` from packages/tollgate/tools/switching-table.ts. -->";
const END = "<!-- End of the settings. -->";

/** Replaces the tables in the text of docs/switching.md. */
export function withSwitchingTables(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the page must contain the lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${switchingTables()}\n\n${page.slice(end)}`;
}
