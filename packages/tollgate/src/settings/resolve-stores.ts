import { maskCredentials, Refusal } from "./kinds/kinds.ts";
import { Secret } from "./kinds/secret.ts";
import type { Findings } from "./read-values.ts";
import type {
  ClientTls,
  Credentials,
  HostPort,
  KvStoreInstance,
  KvStoreSettings,
  ObjCacheSettings,
  Settings,
} from "./settings.ts";
import { parseHostPort, parseStoreTarget } from "./store-target.ts";
import type { Values } from "./table.ts";

type InstanceValues = Values["kvstore"]["main"];

/** Chooses the store and resolves its settings. Incomplete settings of a store are a fault. */
export function resolveStores(
  values: Values,
  findings: Findings,
): Pick<Settings, "store" | "kvstore" | "objcache"> {
  const backend = chooseBackend(values, findings);
  const failureMode = backend === "kvstore" ? values.kvstore.failureMode : values.objcache.failureMode;
  const requiredAtStart = backend !== "embedded" && (values.store.requiredAtStart ?? failureMode === "error");
  const store = { ...values.store, backend, requiredAtStart };
  checkPrefix(values.decision.cacheKeyPrefix, backend, findings);
  if (backend === "kvstore") {
    warnOfUnused("OBJCACHE_", "the back end is the key-value store", findings);
    return { store, kvstore: resolveKvStore(values, findings), objcache: undefined };
  }
  if (values.store.backend !== undefined) warnOfUnused("KVSTORE_", `BACKEND_TYPE is ${backend}`, findings);
  if (backend === "objcache")
    return { store, kvstore: undefined, objcache: resolveObjCache(values, findings) };
  if (values.store.backend !== undefined) warnOfUnused("OBJCACHE_", "BACKEND_TYPE is embedded", findings);
  if (values.store.requiredAtStart)
    findings.warnings.push("STORE_REQUIRED_AT_START has no effect, because hits are counted in this process");
  if (values.store.cacheKeyFormat === "compatible")
    findings.warnings.push("CACHE_KEY_FORMAT has no effect, because hits are counted in this process");
  return { store, kvstore: undefined, objcache: undefined };
}

/** Bytes. memcached keys have at most 250 bytes, and the rest of a hashed key needs space after the prefix. */
const LONGEST_PREFIX = 150;

function checkPrefix(prefix: string, backend: Settings["store"]["backend"], findings: Findings): void {
  const bytes = Buffer.byteLength(prefix);
  if (bytes > LONGEST_PREFIX)
    findings.fault("CACHE_KEY_PREFIX", `must have at most ${LONGEST_PREFIX} bytes; it has ${bytes}`);
  // memcached's protocol.txt, "Keys".
  if (backend === "objcache" && /[ \p{Cc}]/u.test(prefix))
    findings.fault(
      "CACHE_KEY_PREFIX",
      "must not contain white space or control characters: memcached does not allow them in keys",
    );
}

function givenOf(prefix: string, findings: Findings): string[] {
  return [...findings.given.keys()].filter((name) => name.startsWith(prefix));
}

function chooseBackend(values: Values, findings: Findings): Settings["store"]["backend"] {
  if (values.store.backend !== undefined) return values.store.backend;
  if (findings.given.has("BACKEND_TYPE")) return "embedded"; // The value is invalid and has caused a fault.
  if (findings.given.has("KVSTORE_URL")) return "kvstore";
  const [kvstore] = givenOf("KVSTORE_", findings);
  const [objcache] = givenOf("OBJCACHE_", findings);
  if (kvstore !== undefined)
    findings.fault(
      "KVSTORE_URL",
      `must be set (or REDIS_URL), because ${findings.spelling(kvstore)} is; to count in this process instead, set BACKEND_TYPE=embedded`,
    );
  else if (objcache !== undefined)
    findings.fault(
      "BACKEND_TYPE",
      `must be objcache, because ${findings.spelling(objcache)} is set; to count in this process instead, set it to embedded`,
    );
  else
    findings.warnings.push(
      "no store is configured: hits are counted in this process and not shared with other processes (set BACKEND_TYPE=embedded to confirm)",
    );
  return "embedded";
}

function warnOfUnused(prefix: string, because: string, findings: Findings): void {
  const names = givenOf(prefix, findings).map((name) => findings.spelling(name));
  if (names.length > 0)
    findings.warnings.push(`settings without effect, because ${because}: ${names.join(", ")}`);
}

function resolveKvStore(values: Values, findings: Findings): KvStoreSettings | undefined {
  const { kvstore } = values;
  const isShared = kvstore.perSecondEnabled && kvstore.perSecond.tls.enabled;
  const main = resolveInstance("KVSTORE_", kvstore.main, findings, isShared);
  let perSecond: KvStoreInstance | undefined;
  if (kvstore.perSecondEnabled) {
    const own = kvstore.perSecond.tls;
    const shared = kvstore.main.tls;
    // A certificate and its key are a pair. One is never combined with the other of the main instance.
    const pair = own.cert === undefined && own.key === undefined ? shared : own;
    const tls = {
      enabled: own.enabled,
      cert: pair.cert,
      key: pair.key,
      caCert: own.caCert ?? shared.caCert,
      skipHostnameVerification: own.skipHostnameVerification ?? shared.skipHostnameVerification,
    };
    perSecond = resolveInstance("KVSTORE_PERSECOND_", { ...kvstore.perSecond, tls }, findings);
  } else warnOfUnused("KVSTORE_PERSECOND_", "KVSTORE_PERSECOND is not true", findings);
  if (main === undefined) return undefined;
  return {
    main,
    perSecond,
    healthCheckActiveConnection: kvstore.healthCheckActiveConnection,
    failureMode: kvstore.failureMode,
    startupMaxElapsed: kvstore.startupMaxElapsed,
    statisticsName: findings.spelling("KVSTORE_URL") === "KVSTORE_URL" ? "kvstore" : "redis",
  };
}

function resolveInstance(
  prefix: string,
  values: InstanceValues,
  findings: Findings,
  isShared = false,
): KvStoreInstance | undefined {
  const name = (part: string): string => prefix + part;
  if (findings.given.has(name("PIPELINE_LIMIT")))
    findings.warnings.push(`${findings.spelling(name("PIPELINE_LIMIT"))} is deprecated and has no effect`);
  if (values.sentinelAuth !== undefined && values.type !== "sentinel")
    findings.warnings.push(
      `${findings.spelling(name("SENTINEL_AUTH"))} has no effect, because ${findings.spelling(name("TYPE"))} is ${values.type}`,
    );
  if (values.socketType === "unix" && values.type !== "single") {
    findings.fault(name("SOCKET_TYPE"), `must be tcp for the type ${values.type}`);
    return undefined;
  }
  if (values.url === undefined) {
    const because = prefix === "KVSTORE_" ? "BACKEND_TYPE" : "KVSTORE_PERSECOND";
    const { spelling, shown } = findings.given.get(because) ?? { spelling: because, shown: "" };
    findings.fault(name("URL"), `must be set, because ${spelling} is ${shown}`);
    return undefined;
  }
  let parsed: ReturnType<typeof parseStoreTarget>;
  try {
    parsed = parseStoreTarget(values.url, values.type, values.socketType);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    findings.fault(name("URL"), error.message);
    return undefined;
  }
  if (parsed.tls && !values.tls.enabled && findings.given.has(name("TLS")))
    findings.fault(name("TLS"), `must be true, because ${findings.spelling(name("URL"))} is a rediss:// URL`);
  if (parsed.target.type === "cluster" && values.pipelineWindow === 0)
    findings.infos.push(
      `${findings.spelling(name("PIPELINE_WINDOW"))} is 0: batches to the cluster are sent without waiting for more calls`,
    );
  return {
    target: parsed.target,
    poolSize: values.poolSize,
    timeout: values.timeout,
    poolOnEmpty: values.poolOnEmpty,
    poolOnEmptyWait: values.poolOnEmptyWait,
    pipelineWindow: values.pipelineWindow,
    auth:
      credentials(values.auth) ??
      (parsed.password === undefined
        ? undefined
        : { user: parsed.user, password: new Secret(parsed.password) }),
    sentinelAuth: values.type === "sentinel" ? credentials(values.sentinelAuth) : undefined,
    tls: clientTls(prefix, { ...values.tls, enabled: values.tls.enabled || parsed.tls }, findings, isShared),
  };
}

/** `user:password`, `password`, or `:password` for a password that contains a colon. */
function credentials(auth: Secret | undefined): Credentials | undefined {
  if (auth === undefined) return undefined;
  const text = auth.reveal();
  const at = text.indexOf(":");
  return {
    user: at > 0 ? text.slice(0, at) : undefined,
    password: at >= 0 ? new Secret(text.slice(at + 1)) : auth,
  };
}

/** @param isShared whether another instance also uses the files, so that no warning is needed */
function clientTls(
  prefix: string,
  tls: InstanceValues["tls"] | Values["objcache"]["tls"],
  findings: Findings,
  isShared = false,
): ClientTls | undefined {
  if (!tls.enabled) {
    if (!isShared)
      warnOfUnused(`${prefix}TLS_`, `${findings.spelling(`${prefix}TLS`)} is not true`, findings);
    return undefined;
  }
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    const [missing, present] =
      tls.cert === undefined ? ["TLS_CLIENT_CERT", "TLS_CLIENT_KEY"] : ["TLS_CLIENT_KEY", "TLS_CLIENT_CERT"];
    findings.fault(prefix + missing, `must be set, because ${findings.spelling(prefix + present)} is set`);
  }
  return {
    cert: tls.cert,
    key: tls.key,
    caCert: tls.caCert,
    skipHostnameVerification: tls.skipHostnameVerification ?? false,
  };
}

function resolveObjCache(values: Values, findings: Findings): ObjCacheSettings | undefined {
  const { objcache } = values;
  const list = findings.given.has("OBJCACHE_HOST_PORT");
  const { srv } = objcache;
  if (list && srv !== undefined) {
    findings.fault(
      "OBJCACHE_SRV",
      `must not be set together with ${findings.spelling("OBJCACHE_HOST_PORT")}`,
    );
    return undefined;
  }
  if (!list && srv === undefined) {
    findings.fault("OBJCACHE_HOST_PORT", "must be set (or OBJCACHE_SRV), because BACKEND_TYPE is objcache");
    return undefined;
  }
  if (srv !== undefined && !/^_[^.]+\._[^.]+\..+$/.test(srv))
    findings.fault("OBJCACHE_SRV", "must be the name of an SRV record: _service._proto.name");
  if (srv === undefined && objcache.srvRefresh > 0)
    findings.warnings.push(
      `${findings.spelling("OBJCACHE_SRV_REFRESH")} has no effect, because ${findings.spelling("OBJCACHE_SRV")} is not set`,
    );
  const spelled = findings.spelling(srv === undefined ? "OBJCACHE_HOST_PORT" : "OBJCACHE_SRV");
  return {
    nodes: srv === undefined ? nodesOf(objcache.nodes, findings) : { srv, refresh: objcache.srvRefresh },
    maxIdleConnections: objcache.maxIdleConnections,
    tls: clientTls("OBJCACHE_", objcache.tls, findings),
    longKeys: objcache.longKeys,
    failureMode: objcache.failureMode,
    statisticsName: spelled.startsWith("OBJCACHE_") ? "objcache" : "memcache",
  };
}

function nodesOf(items: readonly string[], findings: Findings): HostPort[] {
  return items.flatMap((item) => {
    const node = parseHostPort(item);
    if (node !== undefined) return [node];
    findings.fault(
      "OBJCACHE_HOST_PORT",
      `must be host:port items, separated by commas; invalid: ${JSON.stringify(maskCredentials(item))}`,
    );
    return [];
  });
}
