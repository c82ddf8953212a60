import type { KvStoreInstance, Settings } from "../settings/settings.ts";

/** Consecutive failures that open the circuit breaker of a store. */
const FAILURES_TO_OPEN = 5;

/**
 * Consecutive failures that open the breaker of one thread. The threads of a process fail at the same time, so each
 * needs fewer for the process to react as fast. At least two: a single failure after a long idle time is not an outage.
 */
export function failuresToOpen(parts: number): number {
  return Math.max(2, Math.round(FAILURES_TO_OPEN / parts));
}

/** The settings of one thread: limits of the process are divided among its threads. */
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
