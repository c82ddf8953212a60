/**
 * Name prefixes of the widely deployed Go service. They allow a deployment to switch over by changing its image only.
 * The first matching prefix applies.
 */
const families: readonly (readonly [ours: string, theirs: string])[] = [
  ["USE_PUSHSTATS", "USE_STATSD"],
  ["USE_AGENTSTATS", "USE_DOG_STATSD"],
  ["USE_PULLSTATS", "USE_PROMETHEUS"],
  ["KVSTORE_", "REDIS_"],
  ["OBJCACHE_", "MEMCACHE_"],
  ["PUSHSTATS_", "STATSD_"],
  ["AGENTSTATS_", "DOG_STATSD_"],
  ["PULLSTATS_", "PROMETHEUS_"],
];

/** Returns the Go service's name of a setting, in a list of none or one. */
export function aliasesOf(name: string): readonly string[] {
  const family = families.find(([ours]) => name.startsWith(ours));
  return family === undefined ? [] : [family[1] + name.slice(family[0].length)];
}

/** Whether a name has one of the Go service's prefixes for the key-value store or the object cache. */
export function isStoreAlias(name: string): boolean {
  return name.startsWith("REDIS_") || name.startsWith("MEMCACHE_");
}

/** Variables of the Go service that have no meaning here. One log line lists them at startup. */
export const withoutMeaning: readonly RegExp[] = [
  /^(REDIS|KVSTORE)_STARTUP_/,
  /^(REDIS|KVSTORE)_(PERSECOND_)?CLUSTER_PIPELINE_PARALLELISM$/,
  /^GOSTATS_/,
];
