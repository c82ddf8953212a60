import type { KvstoreOptions } from "../counters/kvstore/kvstore-options.ts";
import type { ObjcacheOptions } from "../counters/objcache/objcache-options.ts";
import type { ClientTlsOptions } from "../counters/transport/tls.ts";
import type { ClientTls, KvStoreInstance, ObjCacheSettings, Settings } from "../settings/settings.ts";

/** Options of a key-value store instance. */
export function kvstoreOptions(instance: KvStoreInstance, store: Settings["store"]): KvstoreOptions {
  const { target, auth, sentinelAuth, tls } = instance;
  return {
    target,
    poolSize: instance.poolSize,
    timeout: instance.timeout,
    onEmpty: onEmpty[instance.poolOnEmpty],
    onEmptyWait: instance.poolOnEmptyWait,
    pipelineWindow: instance.pipelineWindow,
    ...(auth !== undefined && { credentials: auth }),
    ...(sentinelAuth !== undefined && { sentinelCredentials: sentinelAuth }),
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    expirationJitterMaxSeconds: store.expirationJitterMaxSeconds,
    ...(store.cacheKeyFormat === "compatible" && { alwaysExpire: true }),
  };
}

/** Options of the object cache. */
export function objcacheOptions(objcache: ObjCacheSettings, store: Settings["store"]): ObjcacheOptions {
  const { nodes, maxIdleConnections, tls } = objcache;
  return {
    ...("srv" in nodes ? { srv: nodes.srv, srvRefresh: nodes.refresh } : { nodes }),
    maxIdleConnections,
    ...(tls !== undefined && { tls: tlsOptions(tls) }),
    expirationJitterMaxSeconds: store.expirationJitterMaxSeconds,
  };
}

const onEmpty = { create: "CREATE", error: "ERROR", wait: "WAIT" } as const;

function tlsOptions({ cert, key, caCert, skipHostnameVerification }: ClientTls): ClientTlsOptions {
  return {
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
    ...(caCert !== undefined && { caFile: caCert }),
    skipHostnameVerification,
  };
}
