import type { CounterAdmin } from "../counters/counter-admin.ts";
import { EmbeddedStore } from "../counters/embedded/embedded-store.ts";
import { Invalidations } from "../counters/invalidations.ts";
import { OverLimitCache } from "../counters/over-limit-cache.ts";
import type { OpenChannel } from "../counters/replica-channel.ts";
import type { CounterStore } from "../counters/store.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { Settings } from "../settings/settings.ts";
import type { RemoteStore } from "./remote-stores.ts";
import type { StoreDependencies } from "./store-dependencies.ts";
import type { RequiredStore } from "./store-gate.ts";

export interface OpenedStore {
  /** The store for decisions, with the over-limit cache if it is on. Also closes the backend. */
  readonly store: CounterStore;
  /** The store without the over-limit cache: reads the real counts. */
  readonly backend: CounterStore;
  /** The store without the failure policy, too: fails if the remote store fails. */
  readonly bare: CounterStore;
  /** Opens the administration of its counters. */
  readonly openAdmin: () => CounterAdmin | Promise<CounterAdmin>;
  /** Opens a channel to the other replicas; undefined if the store has none. */
  readonly openChannel: OpenChannel | undefined;
  /** The remote stores that must answer before the ports open; none if that is off. */
  readonly required: readonly RequiredStore[];
}

/** Opens the configured store and its statistics. */
export async function openStore(settings: Settings, deps: StoreDependencies): Promise<OpenedStore> {
  const remote = await openRemote(settings, deps);
  const backend = remote?.store ?? deps.embedded;
  if (backend === undefined) throw new Error("the embedded store has not been opened");
  const bare = remote?.bare ?? backend;
  const openAdmin =
    remote?.openAdmin ??
    (async () => {
      const { openOperatorRecords } = await import("./operator-records.ts");
      return deps.embedded!.admin(await openOperatorRecords(settings.embedded.snapshot, deps.log));
    });
  const openChannel = remote?.openChannel;
  const required = settings.store.requiredAtStart ? (remote?.required ?? []) : [];
  const { invalidations } = deps;
  if (invalidations === undefined) return { store: backend, backend, bare, openAdmin, openChannel, required };
  const sizeInBytes = settings.store.localCacheSizeInBytes;
  const cache = new OverLimitCache(backend, { sizeInBytes, invalidations, onLowered: deps.onLowered });
  for (const name of Object.keys(cache.gauges()) as (keyof ReturnType<typeof cache.gauges>)[])
    deps.statistics.gauge(`ratelimit.localcache.${name}`, () => cache.gauges()[name]);
  return { store: cache, backend, bare, openAdmin, openChannel, required };
}

/** The memory that the over-limit caches of all threads share; undefined if the cache is off. */
export function openInvalidations(settings: Settings): Invalidations | undefined {
  return settings.store.localCacheSizeInBytes > 0 ? new Invalidations() : undefined;
}

async function openRemote(settings: Settings, deps: StoreDependencies): Promise<RemoteStore | undefined> {
  if (settings.kvstore !== undefined) {
    const { openKvstore } = await import("./remote-stores.ts");
    return openKvstore(settings, settings.kvstore, deps);
  }
  if (settings.objcache !== undefined) {
    const { openObjcache } = await import("./remote-stores.ts");
    return openObjcache(settings, settings.objcache, deps);
  }
  return undefined;
}

/** Whether this process counts hits itself: always, or while the store is unavailable. */
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
