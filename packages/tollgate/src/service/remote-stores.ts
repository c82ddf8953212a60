import { FailurePolicy } from "../counters/failure-policy.ts";
import { KvstoreStore } from "../counters/kvstore/kvstore.ts";
import type { KvstoreOptions } from "../counters/kvstore/options.ts";
import { PerSecondStore } from "../counters/kvstore/per-second.ts";
import { ObjcacheStore } from "../counters/objcache/objcache.ts";
import type { CounterStore } from "../counters/store.ts";
import type { ClientTlsOptions } from "../counters/transport/tls.ts";
import { COMPONENTS } from "../observe/health.ts";
import type {
  ClientTls,
  Credentials,
  FailureMode,
  KvStoreInstance,
  KvStoreSettings,
  ObjCacheSettings,
  Settings,
} from "../settings/settings.ts";
import type { StoreAddress, StoreTarget } from "../settings/store-target.ts";
import type { StoreSurroundings } from "./stores.ts";

/** The key-value store: one instance, or two, each with its health and its statistics, behind the failure policy. */
export async function openKvstore(
  settings: Settings,
  kvstore: KvStoreSettings,
  around: StoreSurroundings,
): Promise<CounterStore> {
  const jitter = settings.store.expirationJitterMaxSeconds;
  const open = (instance: KvStoreInstance, pool: string, component: string) =>
    openInstance(instance, { jitter, pool, component, watched: kvstore.healthCheckActiveConnection }, around);
  const main = open(kvstore.main, "kvstore_pool", COMPONENTS.store);
  const store =
    kvstore.perSecond === undefined
      ? main
      : new PerSecondStore(
          main,
          open(kvstore.perSecond, "kvstore_per_second_pool", COMPONENTS.perSecondStore),
        );
  return withFailurePolicy(store, kvstore.failureMode, around);
}

/** The object cache behind the failure policy. */
export async function openObjcache(
  settings: Settings,
  objcache: ObjCacheSettings,
  around: StoreSurroundings,
): Promise<CounterStore> {
  const { nodes, maxIdleConnections, tls } = objcache;
  const where =
    "srv" in nodes
      ? { srv: nodes.srv, srvRefresh: nodes.refresh }
      : { nodes: nodes.map(({ host, port }) => showHostPort(host, port)) };
  const store = new ObjcacheStore({
    ...where,
    maxIdleConnections,
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    expirationJitterMaxSeconds: settings.store.expirationJitterMaxSeconds,
    ...(around.tracing.enabled && { tracing: around.tracing }),
    log: (level, line) => around.log[level](line),
  });
  const { statistics } = around;
  statistics.gauge("ratelimit.objcache.nodes", () => store.gauges.nodes);
  statistics.gauge("ratelimit.objcache.cx_active", () => store.gauges.cxActive);
  statistics.counterFrom("ratelimit.objcache.cx_total", () => store.gauges.cxTotal);
  statistics.counterFrom("ratelimit.objcache.increments_lost", () => store.gauges.incrementsLost);
  return withFailurePolicy(store, objcache.failureMode, around);
}

interface InstanceContext {
  readonly jitter: number;
  readonly pool: string;
  readonly component: string;
  /** `KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION` */
  readonly watched: boolean;
}

function openInstance(
  instance: KvStoreInstance,
  { jitter, pool, component, watched }: InstanceContext,
  { statistics, component: register, log, tracing }: StoreSurroundings,
): KvstoreStore {
  const tell = watched ? register(component) : undefined;
  const { target, tls, auth, sentinelAuth } = instance;
  const store = new KvstoreStore({
    ...location(target),
    poolSize: instance.poolSize,
    timeout: instance.timeout,
    onEmpty: instance.poolOnEmpty.toUpperCase() as NonNullable<KvstoreOptions["onEmpty"]>,
    onEmptyWait: instance.poolOnEmptyWait,
    pipelineWindow: instance.pipelineWindow,
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    ...(auth !== undefined && { auth: authText(auth) }),
    ...(sentinelAuth !== undefined && { sentinelAuth: authText(sentinelAuth) }),
    expirationJitterMaxSeconds: jitter,
    onConnections: (active) => tell?.(active > 0 ? undefined : "no connection to the store"),
    ...(tracing.enabled && { tracing }),
    log: (level, line) => log[level](line),
  });
  statistics.gauge(`ratelimit.${pool}.cx_active`, () => store.gauges.cxActive);
  statistics.counterFrom(`ratelimit.${pool}.cx_total`, () => store.gauges.cxTotal);
  statistics.counterFrom(`ratelimit.${pool}.cx_local_close`, () => store.gauges.cxLocalClose);
  return store;
}

function withFailurePolicy(
  store: CounterStore,
  mode: FailureMode,
  { statistics, log, embedded }: StoreSurroundings,
): CounterStore {
  const errors = statistics.counter(`ratelimit.service.call.should_rate_limit.${store.kind}_error`);
  const policy = new FailurePolicy(store, {
    mode,
    ...(mode === "local" && embedded !== undefined && { local: embedded }),
    // A call that fails in spite of the policy is counted where its caller is answered.
    onFailure: (_error, answered) => {
      if (answered) errors.value++;
    },
    onTransition: (_degraded, line) => log.warn(line),
  });
  statistics.gauge(`ratelimit.${store.kind}.degraded`, () => policy.degraded);
  return policy;
}

function location(target: StoreTarget): Pick<KvstoreOptions, "type" | "url" | "socketType"> {
  switch (target.type) {
    case "single": {
      const { address, database } = target;
      if (database === 0) return { type: "single", url: showAddress(address), socketType: address.kind };
      return { type: "single", url: `redis://${showAddress(address)}/${database}` };
    }
    case "sentinel":
      return { type: "sentinel", url: [target.master, ...target.sentinels.map(showAddress)].join(",") };
    case "cluster":
      return { type: "cluster", url: target.nodes.map(showAddress).join(",") };
  }
}

function showAddress(address: StoreAddress): string {
  return address.kind === "unix" ? address.path : showHostPort(address.host, address.port);
}

function showHostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function authText({ user, password }: Credentials): string {
  return `${user ?? ""}:${password.reveal()}`;
}

function tlsOptions({ cert, key, caCert, skipHostnameVerification }: ClientTls): ClientTlsOptions {
  return {
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
    ...(caCert !== undefined && { caFile: caCert }),
    skipHostnameVerification,
  };
}
