import { bool, choice, decimal, duration, int, path, text } from "../kinds.ts";
import { assignments, secretPairs } from "../list-kinds.ts";
import { optional, setting } from "../setting.ts";

export const config = {
  type: setting(
    "CONFIG_TYPE",
    choice({ FILE: "file", GRPC_XDS_SOTW: "xds" }),
    "file",
    "Where rules come from: files, or a management server (xDS).",
  ),
  forceStart: setting(
    "FORCE_START_WITHOUT_INITIAL_CONFIG",
    bool,
    false,
    "Whether gRPC and HTTP open before the first good configuration is loaded. Calls get UNAVAILABLE until then.",
  ),
  mergeDomains: setting(
    "MERGE_DOMAIN_CONFIG",
    bool,
    false,
    "Whether several files or resources may define the same domain.",
  ),
  healthNeedsConfig: setting(
    "HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED",
    bool,
    false,
    "Whether the service is unhealthy while no domain is loaded.",
  ),
};

export const files = {
  root: setting(
    "RUNTIME_ROOT",
    path,
    "/srv/runtime_data/current",
    "Root of the configuration; may be a symbolic link that is swapped.",
  ),
  subdirectory: setting("RUNTIME_SUBDIRECTORY", path, "", "Directory below the root."),
  appDirectory: setting(
    "RUNTIME_APPDIRECTORY",
    path,
    "config",
    "Directory below that; its `*.yaml` files are the configuration.",
  ),
  ignoreDotFiles: setting(
    "RUNTIME_IGNOREDOTFILES",
    bool,
    false,
    "Whether files whose name begins with a dot are left out.",
  ),
  watchRoot: setting(
    "RUNTIME_WATCH_ROOT",
    bool,
    true,
    "`true`: a reload follows when a symbolic link on the path to the directory is swapped. `false`: also when a file in the directory changes.",
  ),
};

export const xds = {
  nodeId: setting("CONFIG_GRPC_XDS_NODE_ID", text, "default", "Node id to announce."),
  nodeMetadata: setting("CONFIG_GRPC_XDS_NODE_METADATA", assignments, [], "Node metadata to announce."),
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
    "An attempt that is not connected after this time is given up.",
  ),
  additionalHeaders: setting(
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS",
    secretPairs,
    [],
    "Headers to send to the management server, `authorization` for example. Never logged.",
  ),
  tls: {
    enabled: setting(
      "CONFIG_GRPC_XDS_SERVER_USE_TLS",
      bool,
      false,
      "Whether the management server is spoken to over TLS.",
    ),
    cert: optional("CONFIG_GRPC_XDS_CLIENT_TLS_CERT", path, "File with the client certificate (PEM)."),
    key: optional("CONFIG_GRPC_XDS_CLIENT_TLS_KEY", path, "File with the client's private key (PEM)."),
    caCert: optional(
      "CONFIG_GRPC_XDS_SERVER_TLS_CACERT",
      path,
      "File with the CA certificates (PEM) that the server's certificate must come from.",
      "the run time's own",
    ),
    san: optional(
      "CONFIG_GRPC_XDS_SERVER_TLS_SAN",
      text,
      "Name that the server's certificate must carry.",
      "the host of the address",
    ),
  },
  backoff: {
    initialInterval: setting(
      "XDS_CLIENT_BACKOFF_INITIAL_INTERVAL",
      duration("above 0"),
      10e3,
      "Wait before the first retry after a lost connection.",
    ),
    maxInterval: setting("XDS_CLIENT_BACKOFF_MAX_INTERVAL", duration("above 0"), 60e3, "Longest wait."),
    factor: setting(
      "XDS_CLIENT_BACKOFF_RANDOM_FACTOR",
      decimal(0, 100),
      0.5,
      "Growth: each wait is the one before times 1 plus this factor.",
    ),
    jitter: setting(
      "XDS_CLIENT_BACKOFF_JITTER",
      bool,
      true,
      "Whether the wait is chosen by chance between 0 and the interval.",
    ),
  },
  maxMessageSize: setting(
    "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES",
    int(0, 2 ** 31 - 1),
    0,
    "Largest message to take from the management server, in bytes; 0 means 4 MiB.",
  ),
};
