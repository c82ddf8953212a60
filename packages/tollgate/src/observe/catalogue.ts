/**
 * Every statistic of the service, once. The manual's table, the default pull mapping and the help texts of the
 * metrics come from here.
 */

export type StatisticKind = "counter" | "gauge" | "timer";

export interface CatalogueEntry {
  /** `<part>` stands for a part that varies; `.__tag=<part>` for a tag. */
  readonly name: string;
  readonly kind: StatisticKind;
  /** Its name for the pull sink under the default mapping; a varying part that is no label stays in it. */
  readonly metric: string;
  /** Labels of the metric; each is a varying part of the name, or a tag in it. */
  readonly labels: readonly string[];
  /** One sentence without a line end. */
  readonly meaning: string;
}

const RULE = "ratelimit.service.rate_limit.<domain>.<key>";
const RULE_METRIC = "ratelimit_service_rate_limit_";

function rule(stat: string, meaning: string): CatalogueEntry {
  return {
    name: `${RULE}.${stat}`,
    kind: "counter",
    metric: RULE_METRIC + stat,
    labels: ["domain", "key1", "key2"],
    meaning,
  };
}

function plain(kind: StatisticKind, name: string, meaning: string): CatalogueEntry {
  const [base, ...tags] = name.split(".__");
  const metric = base!.replace(/[^<>]+(?=<|$)/g, (literal) => literal.replace(/[^a-zA-Z0-9_]/g, "_"));
  return {
    name,
    kind,
    metric: inSeconds(metric.replace(ownPrefix, "$1_"), kind),
    labels: tags.map((tag) => tag.split("=", 1)[0]!),
    meaning,
  };
}

/** The runtime's own figures have the names that other services of this runtime give them. */
const ownPrefix = /^ratelimit_(process|nodejs)_/;

function inSeconds(metric: string, kind: StatisticKind): string {
  return kind === "timer" ? `${metric}_seconds` : metric;
}

/** The metric of a name that no entry describes. */
export function plainMetric(name: string, kind: StatisticKind): string {
  const valid = name.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
  return inSeconds(valid.replace(ownPrefix, "$1_"), kind);
}

/** Statistics of the connections to a store: the main one, and the per-second one. */
function pool(prefix: string, what: string): CatalogueEntry[] {
  return [
    plain("gauge", `${prefix}.cx_active`, `Connections to ${what} that are open.`),
    plain("counter", `${prefix}.cx_total`, `Connections to ${what} that were opened.`),
    plain("counter", `${prefix}.cx_local_close`, `Connections to ${what} that were closed.`),
  ];
}

/** In the order of the manual. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  rule("total_hits", "Hits on the rule, whatever was decided."),
  rule("within_limit", "Hits within the limit."),
  rule("near_limit", "Hits above the near-limit ratio (NEAR_LIMIT_RATIO) and not above the limit."),
  rule("over_limit", "Hits above the limit."),
  rule(
    "over_limit_with_local_cache",
    "Of over_limit: hits that the over-limit cache knew, without asking the store.",
  ),
  rule("shadow_mode", "Hits that were over the limit of a rule in shadow mode, and passed."),
  {
    name: "ratelimit.service.rate_limit.<domain>.domain_not_found",
    kind: "counter",
    metric: `${RULE_METRIC}domain_not_found`,
    labels: ["domain"],
    meaning: "Descriptors of a domain that is not configured; they passed.",
  },
  {
    name: "ratelimit.service.call.should_rate_limit.<err_type>",
    kind: "counter",
    metric: "ratelimit_service_should_rate_limit_error",
    labels: ["err_type"],
    meaning:
      "Failed calls: service_error for a bad request or no configuration, oversized_request for a request above a limit of its size, kvstore_error and objcache_error for the store.",
  },
  plain(
    "counter",
    "ratelimit.service.global_shadow_mode",
    "Calls over limit that passed because of SHADOW_MODE.",
  ),
  plain("counter", "ratelimit.service.config_load_success", "Loads of the configuration that succeeded."),
  plain(
    "counter",
    "ratelimit.service.config_load_error",
    "Loads of the configuration that failed; the old rules stayed.",
  ),
  {
    name: "ratelimit_server.<grpc_method>.total_requests",
    kind: "counter",
    metric: "ratelimit_service_total_requests",
    labels: ["grpc_method"],
    meaning: "Unary gRPC calls.",
  },
  {
    name: "ratelimit_server.<grpc_method>.response_time",
    kind: "timer",
    metric: "ratelimit_service_response_time_seconds",
    labels: ["grpc_method"],
    meaning:
      "From the read that brought a unary gRPC call to the write that answers it, failed calls included.",
  },
  ...pool("ratelimit.kvstore_pool", "the key-value store"),
  ...pool("ratelimit.kvstore_per_second_pool", "the key-value store of the per-second limits"),
  plain(
    "gauge",
    "ratelimit.kvstore.degraded",
    "1 while the key-value store is away and KVSTORE_FAILURE_MODE decides, else 0.",
  ),
  plain(
    "gauge",
    "ratelimit.objcache.degraded",
    "1 while the object cache is away and OBJCACHE_FAILURE_MODE decides, else 0.",
  ),
  plain("gauge", "ratelimit.objcache.nodes", "Nodes of the object cache."),
  plain("gauge", "ratelimit.objcache.cx_active", "Connections to the object cache that are open."),
  plain("counter", "ratelimit.objcache.cx_total", "Connections to the object cache that were opened."),
  plain(
    "counter",
    "ratelimit.objcache.increments_lost",
    "Hits that were answered for and that no node of the object cache acknowledged.",
  ),
  plain(
    "counter",
    "ratelimit.objcache.multiget.__code=<code>",
    "Reads of up to 64 counters each: success, or error where a node failed.",
  ),
  plain("counter", "ratelimit.objcache.keys_requested", "Counters that were read from the object cache."),
  plain("counter", "ratelimit.objcache.keys_found", "Of those, counters that were there."),
  plain(
    "counter",
    "ratelimit.objcache.increment.__code=<code>",
    "Increments: success, miss where the counter was not there, or error.",
  ),
  plain(
    "counter",
    "ratelimit.objcache.add.__code=<code>",
    "Counters that were made: success, not_stored where somebody else was quicker, or error.",
  ),
  plain("gauge", "ratelimit.embedded.liveCounters", "Counters in the embedded store."),
  plain(
    "gauge",
    "ratelimit.embedded.bytesUsed",
    "Bytes of the embedded store in use; bounded by EMBEDDED_STORE_SIZE_IN_BYTES.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.evicted",
    "Counters that a full embedded store evicted before their window ended. Their limits start afresh.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.evictedProtected",
    "Of those, counters that had used up their limit. The store is too small, or a caller floods it with keys.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.expired",
    "Counters that the embedded store dropped after their window had ended.",
  ),
  plain("gauge", "ratelimit.localcache.lookupCount", "Keys looked up in the over-limit cache."),
  plain("gauge", "ratelimit.localcache.hitCount", "Of those, keys that were known to be over their limit."),
  plain("gauge", "ratelimit.localcache.missCount", "Of those, keys that were not."),
  plain("gauge", "ratelimit.localcache.entryCount", "Keys in the over-limit cache."),
  plain("gauge", "ratelimit.localcache.overwriteCount", "Keys that were put into the over-limit cache anew."),
  plain(
    "gauge",
    "ratelimit.localcache.expiredCount",
    "Keys that left the over-limit cache because their window ended.",
  ),
  plain(
    "gauge",
    "ratelimit.localcache.evacuateCount",
    "Keys that left the over-limit cache because it was full.",
  ),
  plain(
    "gauge",
    "ratelimit.localcache.averageAccessTime",
    "When the keys of the over-limit cache were last asked for, on average, in seconds since the epoch.",
  ),
  plain("counter", "certs.load_attempts", "Loads of changed certificate files."),
  plain(
    "counter",
    "certs.load_failures",
    "Loads of changed certificate files that failed; the old certificates stayed.",
  ),
  plain(
    "gauge",
    "ratelimit.statistics.dynamic_keys",
    "Keys of statistics that came from requests; bounded by STATS_MAX_DYNAMIC_KEYS.",
  ),
  plain(
    "counter",
    "ratelimit.statistics.<sink>.dropped",
    "Lines that the sink push, agent or output lost; series that pull could not show.",
  ),
  plain(
    "counter",
    "ratelimit.process.cpu_seconds_total",
    "Processor time of the process, user and system, in seconds.",
  ),
  plain("gauge", "ratelimit.process.resident_memory_bytes", "Memory of the process that is in RAM."),
  plain(
    "gauge",
    "ratelimit.process.start_time_seconds",
    "When the process started, in seconds since the epoch.",
  ),
  plain("gauge", "ratelimit.process.open_fds", "Open file descriptors."),
  plain("gauge", "ratelimit.nodejs.heap_size_total_bytes", "The size of the JavaScript heap."),
  plain("gauge", "ratelimit.nodejs.heap_size_used_bytes", "What of the heap is in use."),
  plain("gauge", "ratelimit.nodejs.external_memory_bytes", "Memory of buffers outside the heap."),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_lag_mean_seconds",
    "How late the event loop was since the last reading, on average.",
  ),
  plain("gauge", "ratelimit.nodejs.eventloop_lag_p50_seconds", "How late it was in the middle of all cases."),
  plain("gauge", "ratelimit.nodejs.eventloop_lag_p99_seconds", "How late it was at most in 99 of 100 cases."),
  plain("gauge", "ratelimit.nodejs.eventloop_lag_max_seconds", "How late it was at worst."),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_utilization",
    "Part of the time since the last reading in which the event loop was busy, 0 to 1.",
  ),
  plain(
    "timer",
    "ratelimit.nodejs.gc_duration.__kind=<kind>",
    "Pauses for garbage collection, by kind: minor, major, incremental, weakcb.",
  ),
];

const STORE_NAMES = [
  ["redis", "kvstore"],
  ["memcache", "objcache"],
] as const;

/** What describes a name, and the parts of it that vary. */
export interface Described {
  readonly entry: CatalogueEntry;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

const patterns = CATALOGUE.filter(({ name }) => !name.startsWith(RULE)).map((entry) => ({
  entry,
  pattern: new RegExp(
    `^${entry.name
      .replace(/\.__\w+=<\w+>/g, "")
      .replace(/\./g, "\\.")
      .replace(/<(\w+)>/g, "(?<$1>[^.]+)")}$`,
  ),
}));

/**
 * Finds a statistic of the service itself (not of a rule) by its emitted name, without tags. A store that was
 * renamed (`redis`) is found too, and its metric is renamed likewise.
 */
export function describe(name: string): Described | undefined {
  let canonical = name;
  const renamed: (readonly [string, string])[] = [];
  for (const [other, own] of STORE_NAMES) {
    if (!canonical.includes(other)) continue;
    canonical = canonical.replaceAll(other, own);
    renamed.push([other, own]);
  }
  for (const { entry, pattern } of patterns) {
    const match = pattern.exec(canonical);
    if (match === null) continue;
    const groups: Record<string, string> = { ...match.groups };
    let metric = entry.metric.replace(/<(\w+)>/g, (_, part: string) => groups[part]!.replace(/\W/g, "_"));
    const labels: Record<string, string> = {};
    for (const label of entry.labels) if (label in groups) labels[label] = groups[label]!;
    for (const [other, own] of renamed) {
      metric = metric.replaceAll(own, other);
      for (const label of Object.keys(labels)) labels[label] = labels[label]!.replaceAll(own, other);
    }
    return { entry, metric, labels };
  }
  return undefined;
}
