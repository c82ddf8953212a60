import { randomUUID } from "node:crypto";
import {
  bool,
  choice,
  decimal,
  duration,
  int,
  listenAddress,
  logLevel,
  path,
  port,
  strictBool,
  text,
} from "../kinds/kinds.ts";
import { list, pairs } from "../kinds/list-kinds.ts";
import { computed, optional, setting } from "../kinds/setting.ts";

export const logs = {
  level: setting(
    "LOG_LEVEL",
    logLevel,
    "warn",
    "Lowest level that is logged: panic, fatal, error, warn, info, debug or trace.",
  ),
  format: setting(
    "LOG_FORMAT",
    choice({ text: "text", json: "json" }),
    "text",
    "`text`: lines of `time`, `level` and `msg`. `json`: one JSON object per line.",
  ),
};

export const stats = {
  disabled: setting("DISABLE_STATS", bool, false, "Turns all statistics sinks off."),
  flushInterval: setting(
    "STATS_FLUSH_INTERVAL",
    duration("above 0"),
    10e3,
    "Time between two flushes to the push and agent sinks and to standard output.",
  ),
  extraTags: setting("EXTRA_TAGS", pairs, [], "Tags on every statistic."),
  maxDynamicKeys: setting(
    "STATS_MAX_DYNAMIC_KEYS",
    int(0, 16_777_216),
    100_000,
    "Maximum number of statistics keys from values in requests, with 256 bytes each on average. Further keys count as `_other`. The limit applies to each thread.",
  ),
  push: {
    enabled: setting(
      "USE_PUSHSTATS",
      bool,
      true,
      "Pushes statistics (statsd protocol). `false` with no other sink writes them to standard output. If it is not set, turning another sink on turns this one off.",
    ),
    host: setting(
      "PUSHSTATS_HOST",
      text,
      "localhost",
      "Host of the push and agent sinks. For `PUSHSTATS_PROTOCOL=unix`, the path of the socket.",
    ),
    port: setting("PUSHSTATS_PORT", port, 8125, "Port of the push and agent sinks."),
    protocol: setting(
      "PUSHSTATS_PROTOCOL",
      choice({ tcp: "tcp", udp: "udp", unix: "unix" }),
      "tcp",
      "Protocol of the push sink. The agent sink always uses UDP.",
    ),
  },
  agent: {
    enabled: setting(
      "USE_AGENTSTATS",
      bool,
      false,
      "Sends statistics with tags to an agent (dogstatsd protocol).",
    ),
    mogrifiers: setting(
      "AGENTSTATS_MOGRIFIERS",
      list,
      [],
      "Names of the rewrite rules for statistics, in order. The first rule that matches applies. See below.",
      ["USE_AGENTSTATS_MOGRIFIERS"],
    ),
  },
  pull: {
    enabled: setting(
      "USE_PULLSTATS",
      bool,
      false,
      "Serves metrics for scraping (Prometheus and OpenMetrics).",
    ),
    address: setting(
      "PULLSTATS_ADDR",
      listenAddress,
      { host: "", port: 9090 },
      "Address of the metrics port.",
    ),
    path: setting("PULLSTATS_PATH", text, "/metrics", "Path of the metrics."),
    mapperFile: optional(
      "PULLSTATS_MAPPER_YAML",
      path,
      "File with a mapping from statistics to metrics in the format of statsd_exporter. Replaces the built-in mapping.",
    ),
    responseTimeAsMilliseconds: setting(
      "PULLSTATS_RESPONSE_TIME_AS_MILLISECONDS",
      bool,
      false,
      "Reports the response time in milliseconds instead of seconds. Has no effect with a mapping file.",
    ),
  },
};

export const tracing = {
  enabled: setting("TRACING_ENABLED", strictBool, false, "Exports spans (OTLP)."),
  protocol: setting(
    "TRACING_EXPORTER_PROTOCOL",
    choice({ http: "http", grpc: "grpc" }),
    "http",
    "Protocol of the span exporter.",
  ),
  serviceName: setting("TRACING_SERVICE_NAME", text, "RateLimit", "`service.name` in spans."),
  serviceNamespace: setting("TRACING_SERVICE_NAMESPACE", text, "", "`service.namespace` in spans."),
  serviceInstanceId: computed(
    "TRACING_SERVICE_INSTANCE_ID",
    text,
    () => randomUUID() as string,
    "a random UUID (version 4)",
    "`service.instance.id` in spans.",
  ),
  samplingRate: setting(
    "TRACING_SAMPLING_RATE",
    decimal(0, 1),
    1,
    "Share of traces that are recorded if the caller has made no sampling decision.",
  ),
};
