import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { OverLimitCache } from "../counters/over-limit-cache.ts";
import type { CounterStore } from "../counters/store.ts";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Registry } from "../observe/registry.ts";
import type { Settings } from "../settings/settings.ts";

/** What a store is built among. */
export interface StoreSurroundings {
  readonly statistics: Registry;
  readonly health: Health;
  readonly log: Logger;
}

/** The store that the settings ask for, with what stands in front of it, and their statistics. */
export async function openStore(settings: Settings, around: StoreSurroundings): Promise<CounterStore> {
  const store = await openBackend(settings, around);
  const size = settings.store.localCacheSizeInBytes;
  return size > 0 ? withOverLimitCache(store, size, around.statistics) : store;
}

async function openBackend(settings: Settings, around: StoreSurroundings): Promise<CounterStore> {
  if (settings.kvstore !== undefined) {
    const { openKvstore } = await import("./remote-stores.ts");
    return openKvstore(settings, settings.kvstore, around);
  }
  if (settings.objcache !== undefined) {
    const { openObjcache } = await import("./remote-stores.ts");
    return openObjcache(settings, settings.objcache, around);
  }
  return openEmbedded(settings, around);
}

/** The embedded store, as the back end or for the failure policy `local`. */
export async function openEmbedded(
  settings: Settings,
  { statistics, log }: StoreSurroundings,
): Promise<EmbeddedStore> {
  const { sizeInBytes, snapshot } = settings.embedded;
  const store = await EmbeddedStore.open({
    sizeInBytes,
    ...(snapshot !== undefined && { snapshotPath: snapshot }),
    report: (line) => log.warn(line),
  });
  statistics.gauge("ratelimit.embedded.liveCounters", () => store.statistics().liveCounters);
  statistics.gauge("ratelimit.embedded.bytesUsed", () => store.statistics().bytesUsed);
  statistics.gauge("ratelimit.embedded.evicted", () => store.statistics().evicted);
  statistics.gauge("ratelimit.embedded.expired", () => store.statistics().expired);
  return store;
}

function withOverLimitCache(store: CounterStore, sizeInBytes: number, statistics: Registry): CounterStore {
  const cache = new OverLimitCache(store, { sizeInBytes });
  for (const name of Object.keys(cache.gauges()) as (keyof ReturnType<typeof cache.gauges>)[]) {
    statistics.gauge(`ratelimit.localcache.${name}`, () => cache.gauges()[name]);
  }
  return cache;
}
