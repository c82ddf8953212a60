import { FailurePolicy } from "../counters/failure-policy.ts";
import type { RefundListener } from "../counters/kvstore/across.ts";
import { KvstoreStore } from "../counters/kvstore/kvstore.ts";
import type { KvstoreOptions } from "../counters/kvstore/kvstore-options.ts";
import { PerSecondStore } from "../counters/kvstore/per-second.ts";
import { ObjcacheStore } from "../counters/objcache/objcache.ts";
import type { CounterStore } from "../counters/store.ts";
import { COMPONENTS } from "../observe/health.ts";
import type {
  FailureMode,
  KvStoreInstance,
  KvStoreSettings,
  ObjCacheSettings,
  Settings,
} from "../settings/settings.ts";
import { failuresToOpen } from "./divide.ts";
import { kvstoreOptions, objcacheOptions } from "./store-options.ts";
import type { StoreSurroundings } from "./stores.ts";

/** The key-value store: one instance, or two, each with its health and its statistics, behind the failure policy. */
export async function openKvstore(
  settings: Settings,
  kvstore: KvStoreSettings,
  around: StoreSurroundings,
): Promise<CounterStore> {
  const watched = kvstore.healthCheckActiveConnection;
  const open = (instance: KvStoreInstance, pool: string, component: string) =>
    openInstance(kvstoreOptions(instance, settings.store), { pool, component, watched }, around);
  const main = failurePolicy(
    open(kvstore.main, "kvstore_pool", COMPONENTS.store),
    kvstore.failureMode,
    around,
  );
  if (kvstore.perSecond === undefined) {
    around.statistics.gauge("ratelimit.kvstore.degraded", () => main.degraded);
    return main;
  }
  // Each behind a policy of its own: while one is sick the other one counts.
  const second = failurePolicy(
    open(kvstore.perSecond, "kvstore_per_second_pool", COMPONENTS.perSecondStore),
    kvstore.failureMode,
    around,
    perSecondLines,
  );
  around.statistics.gauge("ratelimit.kvstore.degraded", () => Math.max(main.degraded, second.degraded));
  return new PerSecondStore(main, second, takenBack(around));
}

/** Stands before what the log says of the per-second instance. */
const perSecondLines = "per-second instance: ";

/** The object cache behind the failure policy. */
export async function openObjcache(
  settings: Settings,
  objcache: ObjCacheSettings,
  around: StoreSurroundings,
): Promise<CounterStore> {
  const store = new ObjcacheStore({
    ...objcacheOptions(objcache, settings.store),
    ...(around.tracing.enabled && { tracing: around.tracing }),
    log: (level, line) => around.log[level](line),
  });
  const { statistics } = around;
  statistics.gauge("ratelimit.objcache.nodes", () => store.gauges.nodes);
  statistics.gauge("ratelimit.objcache.cx_active", () => store.gauges.cxActive);
  for (const [name, field] of objcacheCounters)
    statistics.counterFrom(`ratelimit.objcache.${name}`, () => store.gauges[field]);
  const policy = failurePolicy(store, objcache.failureMode, around);
  statistics.gauge("ratelimit.objcache.degraded", () => policy.degraded);
  return policy;
}

/** All but the first two under the names that switching users have in their dashboards. */
const objcacheCounters = [
  ["cx_total", "cxTotal"],
  ["increments_lost", "incrementsLost"],
  ["multiget.__code=success", "multigetSuccess"],
  ["multiget.__code=error", "multigetError"],
  ["keys_requested", "keysRequested"],
  ["keys_found", "keysFound"],
  ["increment.__code=success", "incrementSuccess"],
  ["increment.__code=miss", "incrementMiss"],
  ["increment.__code=error", "incrementError"],
  ["add.__code=success", "addSuccess"],
  ["add.__code=not_stored", "addNotStored"],
  ["add.__code=error", "addError"],
] as const;

interface InstanceContext {
  readonly pool: string;
  readonly component: string;
  /** `KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION` */
  readonly watched: boolean;
}

function openInstance(
  options: KvstoreOptions,
  { pool, component, watched }: InstanceContext,
  { statistics, component: register, log, tracing, invalidations }: StoreSurroundings,
): KvstoreStore {
  const tell = watched ? register(component) : undefined;
  const store = new KvstoreStore({
    ...options,
    onRefund: takenBack({ invalidations }),
    onConnections: (active) => tell?.(active > 0 ? undefined : "no connection to the store"),
    ...(tracing.enabled && { tracing }),
    log: (level, line) => log[level](component === COMPONENTS.perSecondStore ? perSecondLines + line : line),
  });
  statistics.gauge(`ratelimit.${pool}.cx_active`, () => store.gauges.cxActive);
  statistics.counterFrom(`ratelimit.${pool}.cx_total`, () => store.gauges.cxTotal);
  statistics.counterFrom(`ratelimit.${pool}.cx_local_close`, () => store.gauges.cxLocalClose);
  return store;
}

/** Hits that were taken back may have made other calls see a counter above its limit. */
function takenBack({ invalidations }: Pick<StoreSurroundings, "invalidations">): RefundListener {
  return (counts) => {
    for (const { stem } of counts) invalidations?.invalidate(stem);
  };
}

function failurePolicy(
  store: CounterStore,
  mode: FailureMode,
  { statistics, log, embedded, parts }: StoreSurroundings,
  prefix = "",
): FailurePolicy {
  const errors = statistics.counter(`ratelimit.service.call.should_rate_limit.${store.kind}_error`);
  return new FailurePolicy(store, {
    mode,
    breaker: { failures: failuresToOpen(parts) },
    ...(mode === "local" && embedded !== undefined && { local: embedded }),
    // A call that fails in spite of the policy is counted where its caller is answered.
    onFailure: (_error, answered) => {
      if (answered) errors.value++;
    },
    onTransition: (_degraded, line) => log.warn(prefix + line),
  });
}
