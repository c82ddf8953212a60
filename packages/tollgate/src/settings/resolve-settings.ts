import { readMogrifiers, strayMogrifiers } from "./mogrifiers.ts";
import type { Environment, Findings } from "./read-values.ts";
import { resolveStores } from "./resolve-stores.ts";
import type { ServerTls, Settings, StatsSettings } from "./settings.ts";
import type { Values } from "./table.ts";

/** Converts the values to the service's settings. Features that are off become undefined. */
export function resolve(values: Values, environment: Environment, findings: Findings): Settings {
  const { host, port } = values.http;
  const { enabled: headersEnabled, ...headers } = values.decision.headers;
  const { enabled: tracingEnabled, ...tracing } = values.tracing;
  const { enabled: topKeysEnabled, mask, maskStyle, maskSalt, ...topKeys } = values.topKeys;
  const { enabled: xdsTlsEnabled, ...xdsTls } = values.xds.tls;
  return {
    http: values.http.enabled ? { host, port, tls: resolveServerTls(values.http.tls) } : undefined,
    grpc: { ...values.grpc, tls: resolveServerTls(values.grpc.tls) },
    debug: values.debug,
    admin: resolveAdmin(values.admin),
    requests: values.requests,
    lifecycle: values.lifecycle,
    config: values.config,
    files: values.files,
    xds: { ...values.xds, tls: xdsTlsEnabled ? xdsTls : undefined },
    decision: { ...values.decision, headers: headersEnabled ? headers : undefined },
    reservations: values.reservations,
    ...resolveStores(values, findings),
    embedded: values.embedded,
    stats: resolveStats(values.stats, environment, findings),
    topKeys: topKeysEnabled ? topKeys : undefined,
    decisionLog: values.decisionLog,
    mask: { mask, maskStyle, maskSalt },
    logs: values.logs,
    tracing: tracingEnabled ? tracing : undefined,
  };
}

function resolveAdmin({ port, ...admin }: Values["admin"]): Settings["admin"] {
  return port === undefined ? undefined : { ...admin, port, tls: resolveServerTls(admin.tls) };
}

function resolveServerTls(tls: Values["grpc"]["tls"]): ServerTls | undefined {
  if (!tls.enabled || tls.cert === undefined || tls.key === undefined) return undefined;
  return { cert: tls.cert, key: tls.key, clientCaCert: tls.clientCaCert, clientSan: tls.clientSan };
}

/** The push sink is on by default unless another sink is on. `USE_PUSHSTATS` overrides that. */
function resolveStats(stats: Values["stats"], environment: Environment, findings: Findings): StatsSettings {
  const { enabled: pushEnabled, ...push } = stats.push;
  const { enabled: pullEnabled, ...pull } = stats.pull;
  const others = stats.agent.enabled || pullEnabled;
  const byName = findings.given.has("USE_PUSHSTATS");
  const on = !stats.disabled;
  const names = stats.agent.mogrifiers;
  const mogrifiers = readMogrifiers(names, environment, findings);
  const stray = strayMogrifiers(names, environment);
  if (stray.length > 0)
    findings.warnings.push(
      `settings without effect, because the list of mogrifiers does not name their mogrifiers: ${stray.join(", ")}`,
    );
  return {
    flushInterval: stats.flushInterval,
    extraTags: stats.extraTags,
    maxDynamicKeys: stats.maxDynamicKeys,
    push: on && pushEnabled && (byName || !others) ? push : undefined,
    agent: on && stats.agent.enabled ? { host: push.host, port: push.port, mogrifiers } : undefined,
    pull: on && pullEnabled ? pull : undefined,
    standardOutput: on && !pushEnabled && !others,
  };
}
