/**
 * Families of names that the widely deployed Go service uses: a deployment that switches over changes its image
 * and nothing else. The first that fits counts.
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

/** The names that the other service uses for one of ours: none or one. */
export function aliasesOf(name: string): readonly string[] {
  const family = families.find(([ours]) => name.startsWith(ours));
  return family === undefined ? [] : [family[1] + name.slice(family[0].length)];
}

/** Whether a name is one of the other service's family for the key-value store or the object cache. */
export function isStoreAlias(name: string): boolean {
  return name.startsWith("REDIS_") || name.startsWith("MEMCACHE_");
}

/** Variables of the other service that have no meaning here: read by nobody, named once. */
export const withoutMeaning: readonly RegExp[] = [
  /^(REDIS|KVSTORE)_STARTUP_/,
  /^(REDIS|KVSTORE)_(PERSECOND_)?CLUSTER_PIPELINE_PARALLELISM$/,
  /^GOSTATS_/,
];
