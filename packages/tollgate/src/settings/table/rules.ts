import { bool, choice, decimal, duration, int, path, text } from "../kinds/kinds.ts";
import { assignments, secretPairs } from "../kinds/list-kinds.ts";
import { optional, setting } from "../kinds/setting.ts";

export const config = {
  type: setting(
    "CONFIG_TYPE",
    choice({ FILE: "file", GRPC_XDS_SOTW: "xds" }),
    "file",
    "Source of the rules: `FILE` for files, `GRPC_XDS_SOTW` for a management server (xDS).",
  ),
  forceStart: setting(
    "FORCE_START_WITHOUT_INITIAL_CONFIG",
    bool,
    false,
    "Opens the gRPC and HTTP ports before the first valid configuration is loaded. Calls fail with UNAVAILABLE until then.",
  ),
  mergeDomains: setting(
    "MERGE_DOMAIN_CONFIG",
    bool,
    false,
    "Allows several files or resources to define the same domain.",
  ),
  calendarMonths: setting(
    "USE_CALENDAR_MONTH_RATE_LIMIT",
    bool,
    false,
    "Makes `unit: month` a calendar month in UTC, unless a limit has a `calendar` of its own.",
  ),
  healthNeedsConfig: setting(
    "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED",
    bool,
    false,
    "Reports the service as unhealthy while no domain is loaded.",
  ),
};

export const files = {
  root: setting(
    "RUNTIME_ROOT",
    path,
    "/srv/runtime_data/current",
    "Root directory of the configuration. It may be a symbolic link that is replaced to deploy a new version.",
  ),
  subdirectory: setting("RUNTIME_SUBDIRECTORY", path, "", "Directory below `RUNTIME_ROOT`."),
  appDirectory: setting(
    "RUNTIME_APPDIRECTORY",
    path,
    "config",
    "Directory below `RUNTIME_SUBDIRECTORY`. Its `*.yaml` files are the configuration.",
  ),
  ignoreDotFiles: setting(
    "RUNTIME_IGNOREDOTFILES",
    bool,
    false,
    "Ignores files whose names begin with a dot.",
  ),
  watchRoot: setting(
    "RUNTIME_WATCH_ROOT",
    bool,
    true,
    "`true`: reloads when a symbolic link on the path to the directory is replaced. `false`: also reloads when a file in the directory changes.",
  ),
};

export const xds = {
  nodeId: setting("CONFIG_GRPC_XDS_NODE_ID", text, "default", "Node id sent to the management server."),
  nodeMetadata: setting(
    "CONFIG_GRPC_XDS_NODE_METADATA",
    assignments,
    [],
    "Node metadata sent to the management server.",
  ),
  serverUrl: setting(
    "CONFIG_GRPC_XDS_SERVER_URL",
    text,
    "localhost:18000",
    "Address of the management server.",
  ),
  connectTimeout: setting(
    "CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL",
    duration("above 0"),
    3e3,
    "Timeout of a connection attempt.",
  ),
  additionalHeaders: setting(
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS",
    secretPairs,
    [],
    "Headers sent to the management server, for example `authorization`. The values are never logged.",
  ),
  tls: {
    enabled: setting(
      "CONFIG_GRPC_XDS_SERVER_USE_TLS",
      bool,
      false,
      "Connects to the management server over TLS.",
    ),
    cert: optional("CONFIG_GRPC_XDS_CLIENT_TLS_CERT", path, "File with the client certificate (PEM)."),
    key: optional("CONFIG_GRPC_XDS_CLIENT_TLS_KEY", path, "File with the client's private key (PEM)."),
    caCert: optional(
      "CONFIG_GRPC_XDS_SERVER_TLS_CACERT",
      path,
      "File with the CA certificates (PEM) that verify the server's certificate.",
      "the CAs of the system and of Node",
    ),
    san: optional(
      "CONFIG_GRPC_XDS_SERVER_TLS_SAN",
      text,
      "DNS name that the server's certificate must contain.",
      "the host of `CONFIG_GRPC_XDS_SERVER_URL`",
    ),
  },
  backoff: {
    initialInterval: setting(
      "XDS_CLIENT_BACKOFF_INITIAL_INTERVAL",
      duration("above 0"),
      10e3,
      "Delay before the first retry after a lost connection.",
    ),
    maxInterval: setting(
      "XDS_CLIENT_BACKOFF_MAX_INTERVAL",
      duration("above 0"),
      60e3,
      "Longest delay between retries.",
    ),
    factor: setting(
      "XDS_CLIENT_BACKOFF_RANDOM_FACTOR",
      decimal(0, 100),
      0.5,
      "Growth of the delay. Each delay is the previous one multiplied by 1 plus this factor.",
    ),
    jitter: setting(
      "XDS_CLIENT_BACKOFF_JITTER",
      bool,
      true,
      "Picks each delay at random between 0 and the interval.",
    ),
  },
  maxMessageSize: setting(
    "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES",
    int(0, 2 ** 31 - 1),
    0,
    "Maximum size of a message from the management server, in bytes; 0 means 4 MiB.",
  ),
};
