import { availableParallelism } from "node:os";
import { bool, duration, fileMode, int, path, port, text } from "../kinds/kinds.ts";
import { list, secretPairs } from "../kinds/list-kinds.ts";
import { computed, optional, setting } from "../kinds/setting.ts";

/** The TLS settings of one port. All ports use the same names after the prefix. */
function serverTls(prefix: string, protocol: string) {
  return {
    enabled: setting(`${prefix}_SERVER_USE_TLS`, bool, false, `Serves ${protocol} over TLS.`),
    cert: optional(
      `${prefix}_SERVER_TLS_CERT`,
      path,
      "File with the certificate chain (PEM). The service watches the file and uses a new pair from the next handshake on.",
    ),
    key: optional(
      `${prefix}_SERVER_TLS_KEY`,
      path,
      "File with the private key (PEM). The service watches the file.",
    ),
    clientCaCert: optional(
      `${prefix}_CLIENT_TLS_CACERT`,
      path,
      "File with the CA certificates (PEM) that verify callers' certificates. Turns mutual TLS on. No other CA is trusted.",
    ),
    clientSan: optional(
      `${prefix}_CLIENT_TLS_SAN`,
      text,
      `DNS name that a caller's certificate must contain. Needs \`${prefix}_CLIENT_TLS_CACERT\`.`,
    ),
  };
}

export const http = {
  enabled: setting(
    "HTTP_ENABLED",
    bool,
    true,
    "Opens the HTTP port (`/json`, `/healthcheck`). If it is off, the gRPC port opens last: probe `grpc.health.v1.Health` there.",
  ),
  host: setting("HOST", text, "0.0.0.0", "Address of the HTTP port."),
  port: setting("PORT", port, 8080, "HTTP port; 0 picks a free one."),
  tls: serverTls("HTTP", "HTTP"),
};

export const grpc = {
  host: setting("GRPC_HOST", text, "0.0.0.0", "Address of the gRPC port."),
  port: setting("GRPC_PORT", port, 8081, "gRPC port; 0 picks a free one."),
  uds: optional(
    "GRPC_UDS",
    path,
    "Path of a Unix socket that serves gRPC instead of a port. `GRPC_HOST` and `GRPC_PORT` have no effect then.",
  ),
  udsMode: optional(
    "GRPC_UDS_MODE",
    fileMode,
    "Permissions of that socket in octal, for example `0666`. A caller needs write permission.",
    "by the process's umask",
  ),
  maxConnectionAge: setting(
    "GRPC_MAX_CONNECTION_AGE",
    duration("any", Number.MAX_SAFE_INTEGER),
    24 * 3600e3,
    "Age at which the server sends GOAWAY on a connection, with 10 % random jitter; 0 means never.",
  ),
  maxConnectionAgeGrace: setting(
    "GRPC_MAX_CONNECTION_AGE_GRACE",
    duration("any", Number.MAX_SAFE_INTEGER),
    3600e3,
    "Time that such a connection has for its open calls before the server closes it; 0 means no limit.",
  ),
  tls: serverTls("GRPC", "gRPC"),
};

export const debug = {
  host: setting("DEBUG_HOST", text, "0.0.0.0", "Address of the debug port."),
  port: setting("DEBUG_PORT", port, 6070, "Debug port; 0 picks a free one."),
  allowedHosts: setting(
    "DEBUG_ALLOWED_HOSTS",
    list,
    [],
    "Names that the debug port accepts in `Host`, for example a service's name. IP addresses, `localhost` and `DEBUG_HOST` are always accepted. `*.example.com` allows all subdomains of `example.com`; `*` allows any name.",
  ),
  dashboard: setting("DEBUG_DASHBOARD", bool, true, "Serves the dashboard at `/` for browsers."),
  profiles: setting("DEBUG_PROFILES", bool, true, "Serves the profiles under `/debug/pprof/`."),
  writes: setting("DEBUG_WRITES", bool, true, "Allows `PUT /log-level` to change the log level."),
};

export const admin = {
  port: optional(
    "ADMIN_PORT",
    port,
    "Port of the admin API; 0 picks a free one. It needs a credential: `ADMIN_TOKENS`, `ADMIN_TOKEN_FILE` or `ADMIN_CLIENT_TLS_CACERT`.",
    "off",
  ),
  host: setting("ADMIN_HOST", text, "127.0.0.1", "Address of the admin API."),
  tokens: setting(
    "ADMIN_TOKENS",
    secretPairs,
    [],
    "Operators and their tokens. A token has 32 characters or more, without commas and white space. The audit log shows the names.",
  ),
  tokenFile: optional(
    "ADMIN_TOKEN_FILE",
    path,
    "File with further operators, a line `name:token` for each. The service uses a changed file within two seconds.",
  ),
  allowedHosts: setting(
    "ADMIN_ALLOWED_HOSTS",
    list,
    [],
    "Names that the admin API accepts in `Host`, in the format of `DEBUG_ALLOWED_HOSTS`. IP addresses, `localhost` and `ADMIN_HOST` are always accepted.",
  ),
  tls: serverTls("ADMIN", "the admin API"),
};

export const lifecycle = {
  drainDelay: setting(
    "DRAIN_DELAY",
    duration("any"),
    0,
    "Time between SIGTERM and the closing of the ports. The service is unhealthy during this time, so that load balancers that poll its health stop sending requests.",
  ),
  shutdownTimeout: setting(
    "SHUTDOWN_TIMEOUT",
    duration("above 0"),
    30e3,
    "Longest time that a shutdown may take. Calls that are still open after it are aborted.",
  ),
  workers: computed(
    "WORKERS",
    int(1, 256),
    () => Math.min(8, availableParallelism()),
    "the number of cores that the process may use, at most 8",
    "Threads that serve gRPC.",
  ),
};
