import type { KvStoreInstance, Settings } from "../settings/settings.ts";

/** Failed calls in a row that open the circuit breaker of a store. */
const FAILURES_TO_OPEN = 5;

/**
 * The same of one thread, so that a process notices as soon with several: its threads fail side by side. Never the
 * first failure alone, which after a quiet night says nothing.
 */
export function failuresToOpen(parts: number): number {
  return Math.max(2, Math.round(FAILURES_TO_OPEN / parts));
}

/** The settings of one thread: figures that are meant for the process are divided among its threads. */
export function divideSettings(settings: Settings, parts: number): Settings {
  if (parts === 1) return settings;
  const share = (figure: number) => Math.max(1, Math.round(figure / parts));
  const instance = (whole: KvStoreInstance): KvStoreInstance => ({
    ...whole,
    poolSize: share(whole.poolSize),
  });
  const { kvstore, objcache, store } = settings;
  return {
    ...settings,
    store: {
      ...store,
      localCacheSizeInBytes: store.localCacheSizeInBytes === 0 ? 0 : share(store.localCacheSizeInBytes),
    },
    kvstore: kvstore && {
      ...kvstore,
      main: instance(kvstore.main),
      perSecond: kvstore.perSecond && instance(kvstore.perSecond),
    },
    objcache: objcache && { ...objcache, maxIdleConnections: share(objcache.maxIdleConnections) },
  };
}
