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

/** Variables of the Go service that have no meaning here. A log line lists those of each kind at startup. */
export const withoutMeaning: readonly {
  readonly names: RegExp;
  readonly why: string;
  readonly warns: boolean;
}[] = [
  { names: /^GOSTATS_/, why: "they have no meaning here", warns: false },
  {
    names: /^(REDIS|KVSTORE)_STARTUP_(INITIAL|MAX)_INTERVAL$/,
    why: "the delay between two attempts to connect always grows from 25 ms to 1 s",
    warns: true,
  },
  {
    names: /^(REDIS|KVSTORE)_(PERSECOND_)?CLUSTER_PIPELINE_PARALLELISM$/,
    why: "the batches to the servers of a cluster always go out at the same time",
    warns: true,
  },
];

/** Whether a variable of the Go service has no meaning here. */
export function hasNoMeaning(name: string): boolean {
  return withoutMeaning.some(({ names }) => names.test(name));
}
