import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { Invalidations } from "../counters/invalidations.ts";
import { OverLimitCache } from "../counters/over-limit-cache.ts";
import type { CounterStore } from "../counters/store.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import type { Settings } from "../settings/settings.ts";

/** What a store is built among. */
export interface StoreSurroundings {
  readonly statistics: Statistics;
  readonly log: Logger;
  readonly tracing: Tracing;
  /** Into how many parts the figures of the process are divided, this thread's among them. */
  readonly parts: number;
  /** The counters of this process, where they are counted in it. */
  readonly embedded: EmbeddedStore | undefined;
  /** Shared by the over-limit caches of this process; undefined where there are none. */
  readonly invalidations: Invalidations | undefined;
  /** Makes a health component known; what it returns is told of faults, and of their end by undefined. */
  readonly component: (name: string) => (fault: string | undefined) => void;
}

export interface OpenedStore {
  /** For decisions: behind the over-limit cache, where there is one. Closes the backend, too. */
  readonly store: CounterStore;
  /** Without the over-limit cache: shows what the store holds. */
  readonly backend: CounterStore;
}

/** The store that the settings ask for, and its statistics. */
export async function openStore(settings: Settings, around: StoreSurroundings): Promise<OpenedStore> {
  const backend = await openBackend(settings, around);
  const { invalidations } = around;
  if (invalidations === undefined) return { store: backend, backend };
  const sizeInBytes = settings.store.localCacheSizeInBytes;
  const cache = new OverLimitCache(backend, { sizeInBytes, invalidations });
  for (const name of Object.keys(cache.gauges()) as (keyof ReturnType<typeof cache.gauges>)[])
    around.statistics.gauge(`ratelimit.localcache.${name}`, () => cache.gauges()[name]);
  return { store: cache, backend };
}

/** What the over-limit caches of all threads share. */
export function openInvalidations(settings: Settings): Invalidations | undefined {
  return settings.store.localCacheSizeInBytes > 0 ? new Invalidations() : undefined;
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
  if (around.embedded === undefined) throw new Error("the embedded store has not been opened");
  return around.embedded;
}

/** Whether hits are counted in the process: always, or while the store is away. */
export function countsHere(settings: Settings): boolean {
  const { backend } = settings.store;
  const mode = settings.kvstore?.failureMode ?? settings.objcache?.failureMode;
  return backend === "embedded" || mode === "local";
}

/** Opens the counters of this process. */
export async function openEmbedded(
  settings: Settings,
  statistics: Statistics,
  log: Logger,
): Promise<EmbeddedStore> {
  const { sizeInBytes, snapshot } = settings.embedded;
  const store = await EmbeddedStore.open({
    sizeInBytes,
    ...(snapshot !== undefined && { snapshotPath: snapshot }),
    report: (line) => log.warn(line),
  });
  statistics.gauge("ratelimit.embedded.liveCounters", () => store.statistics().liveCounters);
  statistics.gauge("ratelimit.embedded.bytesUsed", () => store.statistics().bytesUsed);
  statistics.counterFrom("ratelimit.embedded.evicted", () => store.statistics().evicted);
  statistics.counterFrom("ratelimit.embedded.evictedProtected", () => store.statistics().evictedProtected);
  statistics.counterFrom("ratelimit.embedded.expired", () => store.statistics().expired);
  return store;
}
