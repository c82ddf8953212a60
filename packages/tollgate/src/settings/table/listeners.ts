import { availableParallelism } from "node:os";
import { bool, duration, int, path, port, text } from "../kinds.ts";
import { list } from "../list-kinds.ts";
import { computed, optional, setting } from "../setting.ts";

/** The TLS settings of one port. They are named alike for all ports. */
function serverTls(prefix: string, protocol: string) {
  return {
    enabled: setting(`${prefix}_SERVER_USE_TLS`, bool, false, `Serves ${protocol} over TLS.`),
    cert: optional(
      `${prefix}_SERVER_TLS_CERT`,
      path,
      "File with the certificate chain (PEM). Watched: a new pair is used from the next handshake on.",
    ),
    key: optional(`${prefix}_SERVER_TLS_KEY`, path, "File with the private key (PEM). Watched."),
    clientCaCert: optional(
      `${prefix}_CLIENT_TLS_CACERT`,
      path,
      "File with the CA certificates (PEM) that callers' certificates must come from; turns mutual TLS on. Only these CAs are trusted.",
    ),
    clientSan: optional(
      `${prefix}_CLIENT_TLS_SAN`,
      text,
      `DNS name that a caller's certificate must carry. Needs \`${prefix}_CLIENT_TLS_CACERT\`.`,
    ),
  };
}

export const http = {
  enabled: setting(
    "HTTP_ENABLED",
    bool,
    true,
    "Opens the HTTP port (`/json`, `/healthcheck`). Where it is off, the gRPC port opens last: probe `grpc.health.v1.Health` there.",
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
    "Path of a unix socket to serve gRPC on instead of a port. Leave `GRPC_HOST` and `GRPC_PORT` unset then.",
  ),
  maxConnectionAge: setting(
    "GRPC_MAX_CONNECTION_AGE",
    duration("any", Number.MAX_SAFE_INTEGER),
    24 * 3600e3,
    "Age at which a connection is told to go away (GOAWAY), 10 % more or less by chance; 0 means never.",
  ),
  maxConnectionAgeGrace: setting(
    "GRPC_MAX_CONNECTION_AGE_GRACE",
    duration("any", Number.MAX_SAFE_INTEGER),
    3600e3,
    "Time that such a connection has for its open calls before it is closed; 0 means that it is never closed by force.",
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
    "Names that requests to the debug port may have in `Host`, besides IP addresses, `localhost` and `DEBUG_HOST`: a service's name, for example. `*.example.com` allows all names below one, `*` any name.",
  ),
  profiles: setting("DEBUG_PROFILES", bool, true, "Serves the profiles under `/debug/pprof/`."),
  writes: setting("DEBUG_WRITES", bool, true, "Lets `PUT /log-level` change the log level."),
};

export const lifecycle = {
  drainDelay: setting(
    "DRAIN_DELAY",
    duration("any"),
    0,
    "Time between SIGTERM, which turns the health bad at once, and the closing of the ports: for load balancers that poll.",
  ),
  shutdownTimeout: setting(
    "SHUTDOWN_TIMEOUT",
    duration("above 0"),
    30e3,
    "The longest that ending may take; calls that are still open then are cut off.",
  ),
  workers: computed(
    "WORKERS",
    int(1, 256),
    () => Math.min(8, availableParallelism()),
    "the cores that the process may use, at most 8",
    "Threads that serve gRPC.",
  ),
};
