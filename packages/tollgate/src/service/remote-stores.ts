import type { CounterAdmin } from "../counters/counter-admin.ts";
import { FailurePolicy } from "../counters/failure-policy.ts";
import type { RefundListener } from "../counters/kvstore/across.ts";
import { KvstoreStore } from "../counters/kvstore/kvstore.ts";
import { KvstoreAdmin } from "../counters/kvstore/kvstore-admin.ts";
import type { KvstoreOptions } from "../counters/kvstore/kvstore-options.ts";
import { PerSecondStore } from "../counters/kvstore/per-second.ts";
import { PerSecondAdmin } from "../counters/kvstore/per-second-admin.ts";
import { ObjcacheStore } from "../counters/objcache/objcache.ts";
import { ObjcacheAdmin } from "../counters/objcache/objcache-admin.ts";
import type { OpenChannel } from "../counters/replica-channel.ts";
import type { CounterStore } from "../counters/store.ts";
import { componentNames } from "../observe/health.ts";
import type {
  FailureMode,
  KvStoreInstance,
  KvStoreSettings,
  ObjCacheSettings,
  Settings,
} from "../settings/settings.ts";
import { pageOfCode, withPage } from "../text/manual.ts";
import { failuresToOpen } from "./divide.ts";
import type { StoreDependencies } from "./store-dependencies.ts";
import type { RequiredStore } from "./store-gate.ts";
import { kvstoreOptions, objcacheOptions } from "./store-options.ts";

export interface RemoteStore {
  readonly store: CounterStore;
  /** The store without failure policies. */
  readonly bare: CounterStore;
  /** Opens its administration. */
  readonly openAdmin: () => CounterAdmin;
  /** Opens a channel to the other replicas. */
  readonly openChannel?: OpenChannel;
  /** The stores behind it. */
  readonly required: readonly RequiredStore[];
}

/** Opens the key-value store: one or two instances, each with its own health, statistics and failure policy. */
export async function openKvstore(
  settings: Settings,
  kvstore: KvStoreSettings,
  deps: StoreDependencies,
): Promise<RemoteStore> {
  const watched = kvstore.healthCheckActiveConnection;
  const required: RequiredStore[] = [];
  function open(instance: KvStoreInstance, pool: string, component: string, name: string): KvstoreStore {
    // The variables that set the store decide about names, as in statistics.
    const names = kvstore.statisticsName === "redis" ? { spanName: "Redis Pipeline Execution" } : {};
    const options = { ...kvstoreOptions(instance, settings.store), ...names };
    const store = openInstance(options, { pool, component, watched }, deps);
    required.push({ name, store, fault: () => store.fault });
    return store;
  }
  const adminOf = (store: KvstoreStore) =>
    new KvstoreAdmin(store.control(), settings.decision.cacheKeyPrefix);
  const first = open(kvstore.main, "kvstore_pool", componentNames.store, "the key-value store");
  // Entries of single seconds end before a message arrives, so the main instance has the channel.
  const openChannel: OpenChannel = (events, beat) => {
    const control = first.control();
    const channel = first.channel(control, {
      channel: `${settings.decision.cacheKeyPrefix}tollgate:invalidate`,
      events,
      beat,
    });
    const close = () => {
      channel.close();
      control.close();
    };
    return { publish: (text) => channel.publish(text), close };
  };
  const main = failurePolicy(first, kvstore.failureMode, deps);
  if (kvstore.perSecond === undefined) {
    deps.statistics.gauge("ratelimit.kvstore.degraded", () => main.degraded);
    return { store: main, bare: first, openAdmin: () => adminOf(first), openChannel, required };
  }
  // Each has its own policy, so that one counts while the other is down.
  const perSecond = open(
    kvstore.perSecond,
    "kvstore_per_second_pool",
    componentNames.perSecondStore,
    "the key-value store's per-second instance",
  );
  const second = failurePolicy(perSecond, kvstore.failureMode, deps, PER_SECOND_PREFIX);
  deps.statistics.gauge("ratelimit.kvstore.degraded", () => Math.max(main.degraded, second.degraded));
  return {
    store: new PerSecondStore(main, second, takenBack(deps)),
    bare: new PerSecondStore(first, perSecond, takenBack(deps)),
    openAdmin: () => new PerSecondAdmin(adminOf(first), adminOf(perSecond)),
    openChannel,
    required,
  };
}

/** Prefix of log lines about the per-second instance. */
const PER_SECOND_PREFIX = "per-second instance: ";

/** Opens the object cache with its failure policy. */
export async function openObjcache(
  settings: Settings,
  objcache: ObjCacheSettings,
  deps: StoreDependencies,
): Promise<RemoteStore> {
  const store = new ObjcacheStore({
    ...objcacheOptions(objcache, settings.store),
    ...(objcache.statisticsName === "memcache" && { spanName: "Memcached Fetch Execution" }),
    ...(deps.tracing.enabled && { tracing: deps.tracing }),
    log: (level, line) => deps.log[level](line),
  });
  const { statistics } = deps;
  statistics.gauge("ratelimit.objcache.nodes", () => store.gauges.nodes);
  statistics.gauge("ratelimit.objcache.cx_active", () => store.gauges.cxActive);
  for (const [name, field] of objcacheCounters)
    statistics.counterFrom(`ratelimit.objcache.${name}`, () => store.gauges[field]);
  const policy = failurePolicy(store, objcache.failureMode, deps);
  statistics.gauge("ratelimit.objcache.degraded", () => policy.degraded);
  return {
    store: policy,
    bare: store,
    openAdmin: () => new ObjcacheAdmin(store),
    required: [{ name: "the object cache", store, fault: () => "" }],
  };
}

/** All names but the first two are those of the Go service, so that existing dashboards continue to work. */
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
  { statistics, createReporter, log, tracing, invalidations, onLowered }: StoreDependencies,
): KvstoreStore {
  const report = watched ? createReporter(component) : undefined;
  const store = new KvstoreStore({
    ...options,
    onRefund: takenBack({ invalidations, onLowered }),
    onConnections: (active) => report?.(active > 0 ? undefined : "no connection to the store"),
    ...(tracing.enabled && { tracing }),
    log: (level, line) =>
      log[level](component === componentNames.perSecondStore ? PER_SECOND_PREFIX + line : line),
  });
  statistics.gauge(`ratelimit.${pool}.cx_active`, () => store.gauges.cxActive);
  statistics.counterFrom(`ratelimit.${pool}.cx_total`, () => store.gauges.cxTotal);
  statistics.counterFrom(`ratelimit.${pool}.cx_local_close`, () => store.gauges.cxLocalClose);
  return store;
}

/** Before the refund, other calls may have seen the counter above its limit: their cached result is invalid. */
function takenBack({
  invalidations,
  onLowered,
}: Pick<StoreDependencies, "invalidations" | "onLowered">): RefundListener {
  return (counts) => {
    for (const { stem } of counts) {
      invalidations?.invalidate(stem);
      onLowered(stem);
    }
  };
}

function failurePolicy(
  store: CounterStore,
  mode: FailureMode,
  { statistics, log, embedded, parts }: StoreDependencies,
  prefix = "",
): FailurePolicy {
  const errors = statistics.counter(`ratelimit.service.call.should_rate_limit.${store.kind}_error`);
  return new FailurePolicy(store, {
    mode,
    breaker: { failures: failuresToOpen(parts) },
    ...(mode === "local" && embedded !== undefined && { local: embedded }),
    // The handler counts calls that fail despite the policy.
    onFailure: (_error, answered) => {
      if (answered) errors.value++;
    },
    onTransition: (degraded, line) =>
      log.warn(withPage(prefix + line, degraded ? pageOfCode("STORE_UNAVAILABLE") : undefined)),
  });
}
