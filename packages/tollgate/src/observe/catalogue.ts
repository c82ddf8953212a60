/**
 * Catalogue of all statistics of the service. The manual's table, the default pull mapping and the help texts of the
 * metrics are made from it.
 */

export type StatisticKind = "counter" | "gauge" | "timer";

export interface CatalogueEntry {
  /** `<part>` is a variable part; `.__tag=<part>` is a tag. */
  readonly name: string;
  readonly kind: StatisticKind;
  /** Metric name under the pull sink's default mapping. Variable parts that are not labels stay in the name. */
  readonly metric: string;
  /** Labels of the metric. Each is a variable part of the name, or a tag in it. */
  readonly labels: readonly string[];
  /** One sentence on one line. */
  readonly meaning: string;
}

/** The beginning of the name of each rule statistic. */
export const RULE = "ratelimit.service.rate_limit.<domain>.<key>";
const RULE_METRIC = "ratelimit_service_rate_limit_";

function rule(stat: string, meaning: string, kind: StatisticKind = "counter"): CatalogueEntry {
  return {
    name: `${RULE}.${stat}`,
    kind,
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

/** Runtime statistics use the conventional metric names for Node services, without the prefix. */
const ownPrefix = /^ratelimit_(process|nodejs)_/;

function inSeconds(metric: string, kind: StatisticKind): string {
  return kind === "timer" ? `${metric}_seconds` : metric;
}

/** Metric name of a statistic that has no entry in the catalogue. */
export function plainMetric(name: string, kind: StatisticKind): string {
  const valid = name.replace(/[^a-zA-Z0-9_]/g, "_").replace(/^(?=\d)/, "_");
  return inSeconds(valid.replace(ownPrefix, "$1_"), kind);
}

/** Statistics of the connections to one store: the main store or the per-second store. */
function pool(prefix: string, what: string): CatalogueEntry[] {
  return [
    plain("gauge", `${prefix}.cx_active`, `Open connections to ${what}.`),
    plain("counter", `${prefix}.cx_total`, `Opened connections to ${what}.`),
    plain("counter", `${prefix}.cx_local_close`, `Closed connections to ${what}.`),
  ];
}

/** All statistics, in the order of the manual. */
export const catalogue: readonly CatalogueEntry[] = [
  rule("total_hits", "All hits on the rule, allowed and denied."),
  rule("within_limit", "Hits within the limit."),
  rule("near_limit", "Hits above the near-limit ratio (NEAR_LIMIT_RATIO) and not above the limit."),
  rule("over_limit", "Hits above the limit."),
  rule(
    "over_limit_with_local_cache",
    "Hits of over_limit that the over-limit cache answered without a request to the store.",
  ),
  rule("total_negative_hits", "Hits that calls with is_negative_hits refunded. Not counted in total_hits."),
  rule("shadow_mode", "Hits above the limit of a rule in shadow mode; they were allowed."),
  rule("reserved", "Hits that reservations held."),
  rule("released", "Held hits that a commit released."),
  rule(
    "expired",
    "Held hits whose reservation ended without a commit. Counted with the next call for the counter, or soon after its last hold has ended.",
  ),
  rule("committed", "Hits that commits counted. Also part of total_hits."),
  rule("held", "Hits that open reservations hold: the sum over all processes is what is held.", "gauge"),
  {
    name: "ratelimit.service.rate_limit.<domain>.domain_not_found",
    kind: "counter",
    metric: `${RULE_METRIC}domain_not_found`,
    labels: ["domain"],
    meaning: "Descriptors of a domain that is not configured; they were allowed.",
  },
  {
    name: "ratelimit.service.call.should_rate_limit.<err_type>",
    kind: "counter",
    metric: "ratelimit_service_should_rate_limit_error",
    labels: ["err_type"],
    meaning:
      "Failed calls: service_error for a bad request or a missing configuration, oversized_request for a request above a size limit, kvstore_error and objcache_error for store errors.",
  },
  plain("counter", "ratelimit.service.global_shadow_mode", "Calls over limit that SHADOW_MODE allowed."),
  plain("counter", "ratelimit.service.config_load_success", "Successful loads of the configuration."),
  plain(
    "counter",
    "ratelimit.service.config_load_error",
    "Failed loads of the configuration; the previous rules stayed in use.",
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
    meaning: "Time from the read of a unary gRPC call to the write of its answer, failed calls included.",
  },
  ...pool("ratelimit.kvstore_pool", "the key-value store"),
  ...pool("ratelimit.kvstore_per_second_pool", "the key-value store of the per-second limits"),
  plain(
    "gauge",
    "ratelimit.kvstore.degraded",
    "1 while the key-value store is unavailable and KVSTORE_FAILURE_MODE applies, else 0.",
  ),
  plain(
    "gauge",
    "ratelimit.objcache.degraded",
    "1 while the object cache is unavailable and OBJCACHE_FAILURE_MODE applies, else 0.",
  ),
  plain("gauge", "ratelimit.objcache.nodes", "Nodes of the object cache."),
  plain("gauge", "ratelimit.objcache.cx_active", "Open connections to the object cache."),
  plain("counter", "ratelimit.objcache.cx_total", "Opened connections to the object cache."),
  plain(
    "counter",
    "ratelimit.objcache.increments_lost",
    "Hits of answered calls that no node of the object cache acknowledged.",
  ),
  plain(
    "counter",
    "ratelimit.objcache.multiget.__code=<code>",
    "Reads of up to 64 counters each, by result: success, or error if a node failed.",
  ),
  plain("counter", "ratelimit.objcache.keys_requested", "Counters requested from the object cache."),
  plain("counter", "ratelimit.objcache.keys_found", "Requested counters that existed."),
  plain(
    "counter",
    "ratelimit.objcache.increment.__code=<code>",
    "Increments, by result: success, miss if the counter did not exist, or error.",
  ),
  plain(
    "counter",
    "ratelimit.objcache.add.__code=<code>",
    "Attempts to create a counter, by result: success, not_stored if another process created it first, or error.",
  ),
  plain("gauge", "ratelimit.embedded.liveCounters", "Counters in the embedded store."),
  plain(
    "gauge",
    "ratelimit.embedded.bytesUsed",
    "Bytes in use by the embedded store; bounded by EMBEDDED_STORE_SIZE_IN_BYTES.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.evicted",
    "Counters that a full embedded store evicted before their window ended. Their limits start again at zero.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.evictedProtected",
    "Evicted counters that had used up their limit. The store is too small, or a caller floods it with keys.",
  ),
  plain(
    "counter",
    "ratelimit.embedded.expired",
    "Counters that the embedded store removed after their window ended.",
  ),
  plain(
    "gauge",
    "ratelimit.replicas.subscribed",
    "1 while messages of other replicas arrive, 0 while entries of the over-limit cache live at most `LOCAL_CACHE_REVALIDATE`. Only with a key-value store and that cache.",
  ),
  plain("gauge", "ratelimit.localcache.lookupCount", "Keys looked up in the over-limit cache."),
  plain("gauge", "ratelimit.localcache.hitCount", "Lookups that found a key over its limit."),
  plain("gauge", "ratelimit.localcache.missCount", "Lookups that found no key."),
  plain("gauge", "ratelimit.localcache.entryCount", "Keys in the over-limit cache."),
  plain(
    "gauge",
    "ratelimit.localcache.overwriteCount",
    "Keys that replaced an entry of the over-limit cache.",
  ),
  plain(
    "gauge",
    "ratelimit.localcache.expiredCount",
    "Keys removed from the over-limit cache because their window ended.",
  ),
  plain(
    "gauge",
    "ratelimit.localcache.evacuateCount",
    "Keys evicted from the over-limit cache because it was full.",
  ),
  plain(
    "gauge",
    "ratelimit.localcache.averageAccessTime",
    "Average time of the last lookup of the keys in the over-limit cache, in seconds since the epoch.",
  ),
  plain("counter", "certs.load_attempts", "Loads of changed certificate files."),
  plain(
    "counter",
    "certs.load_failures",
    "Failed loads of changed certificate files; the previous certificates stayed in use.",
  ),
  plain(
    "counter",
    "ratelimit.decision_log.dropped",
    "Decisions that are missing in the log of decisions, because a disk, a reader or the main thread was too slow.",
  ),
  plain(
    "gauge",
    "ratelimit.statistics.dynamic_keys",
    "Statistics keys from requests; bounded by STATS_MAX_DYNAMIC_KEYS.",
  ),
  plain(
    "counter",
    "ratelimit.statistics.<sink>.dropped",
    "Lines that the push, agent or output sink lost, and series that the pull sink could not show.",
  ),
  plain(
    "counter",
    "ratelimit.process.cpu_seconds_total",
    "Processor time of the process, user and system, in seconds.",
  ),
  plain("gauge", "ratelimit.process.resident_memory_bytes", "Resident memory of the process."),
  plain(
    "gauge",
    "ratelimit.process.start_time_seconds",
    "Start time of the process, in seconds since the epoch.",
  ),
  plain("gauge", "ratelimit.process.open_fds", "Open file descriptors."),
  plain("gauge", "ratelimit.nodejs.heap_size_total_bytes", "Size of the JavaScript heap."),
  plain("gauge", "ratelimit.nodejs.heap_size_used_bytes", "Used part of the JavaScript heap."),
  plain("gauge", "ratelimit.nodejs.external_memory_bytes", "Memory of buffers outside the heap."),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_lag_mean_seconds",
    "Mean event loop lag since the last reading.",
  ),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_lag_p50_seconds",
    "Median event loop lag since the last reading.",
  ),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_lag_p99_seconds",
    "99th percentile of the event loop lag since the last reading.",
  ),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_lag_max_seconds",
    "Maximum event loop lag since the last reading.",
  ),
  plain(
    "gauge",
    "ratelimit.nodejs.eventloop_utilization",
    "Fraction of the time since the last reading in which the event loop was busy, 0 to 1.",
  ),
  plain(
    "timer",
    "ratelimit.nodejs.gc_duration.__kind=<kind>",
    "Garbage collection pauses, by kind: minor, major, incremental, weakcb.",
  ),
];
