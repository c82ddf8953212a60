import { checkAdmin } from "./check-admin.ts";
import type { Findings } from "./read-values.ts";
import type { Values } from "./table.ts";

/** Checks settings against each other, except those of the stores. */
export function check(values: Values, findings: Findings): void {
  checkPorts(values, findings);
  checkServerTls("GRPC", values.grpc.tls, findings);
  if (values.http.enabled) checkServerTls("HTTP", values.http.tls, findings);
  else warnOfHttp(findings);
  if (values.admin.port !== undefined) checkServerTls("ADMIN", values.admin.tls, findings);
  checkAdmin(values, findings);
  checkLifecycle(values, findings);
  if (values.config.type === "xds") checkXds(values, findings);
  checkNames(values, findings);
  checkOutput(values, findings);
}

/** Two writers on standard output would mix their lines. */
function checkOutput({ decisionLog, stats }: Values, findings: Findings): void {
  const hasSink = stats.disabled || stats.push.enabled || stats.agent.enabled || stats.pull.enabled;
  if (decisionLog.target === "stdout" && !hasSink)
    findings.fault(
      "DECISION_LOG",
      "must name a file, because the statistics use standard output: USE_PUSHSTATS is false and no other sink is on",
    );
}

const everyInterface = ["", "0.0.0.0", "::"];

/** Reports two listeners on one TCP port. */
function checkPorts(values: Values, findings: Findings): void {
  const listeners = [
    { variable: "PORT", host: values.http.host, port: values.http.enabled ? values.http.port : 0 },
    {
      variable: "GRPC_PORT",
      host: values.grpc.host,
      port: values.grpc.uds === undefined ? values.grpc.port : 0,
    },
    { variable: "DEBUG_PORT", host: values.debug.host, port: values.debug.port },
    { variable: "ADMIN_PORT", host: values.admin.host, port: values.admin.port ?? 0 },
    {
      variable: "PULLSTATS_ADDR",
      host: values.stats.pull.address.host,
      port: values.stats.pull.enabled && !values.stats.disabled ? values.stats.pull.address.port : 0,
    },
  ];
  for (const [index, listener] of listeners.entries())
    for (const other of listeners.slice(0, index)) {
      const meet =
        listener.host === other.host ||
        everyInterface.includes(listener.host) ||
        everyInterface.includes(other.host);
      if (listener.port === 0 || listener.port !== other.port || !meet) continue;
      // The message names the setting that the user gave.
      const [blamed, rival] = findings.given.has(listener.variable) ? [listener, other] : [other, listener];
      findings.fault(
        blamed.variable,
        `must name another port: ${findings.spelling(rival.variable)} also uses ${blamed.port}`,
      );
    }
  if (values.grpc.uds !== undefined)
    for (const variable of ["GRPC_HOST", "GRPC_PORT"])
      if (findings.given.has(variable))
        findings.warnings.push(`${variable} has no effect, because GRPC_UDS is set`);
  if (values.grpc.uds === undefined && values.grpc.udsMode !== undefined)
    findings.warnings.push("GRPC_UDS_MODE has no effect, because GRPC_UDS is not set");
}

function warnOfHttp({ given, warnings }: Findings): void {
  const names = ["HOST", "PORT", ...serverTlsNames("HTTP")].filter((name) => given.has(name));
  if (names.length > 0)
    warnings.push(`settings without effect, because HTTP_ENABLED is false: ${names.join(", ")}`);
}

function serverTlsNames(prefix: string): string[] {
  return [
    `${prefix}_SERVER_USE_TLS`,
    `${prefix}_SERVER_TLS_CERT`,
    `${prefix}_SERVER_TLS_KEY`,
    `${prefix}_CLIENT_TLS_CACERT`,
    `${prefix}_CLIENT_TLS_SAN`,
  ];
}

function checkServerTls(
  prefix: "GRPC" | "HTTP" | "ADMIN",
  tls: Values["grpc"]["tls"],
  findings: Findings,
): void {
  const [useTls, cert, key, clientCa, clientSan] = serverTlsNames(prefix) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const pair = [
    [cert, tls.cert],
    [key, tls.key],
  ] as const;
  if (!tls.enabled) {
    // Without this fault, the service would start without the requested mutual TLS, and any caller could connect.
    if (tls.clientCaCert !== undefined)
      findings.fault(clientCa, `needs ${useTls}=true: client certificates are checked over TLS only`);
    for (const [variable, value] of pair)
      if (value !== undefined)
        findings.warnings.push(`${variable} has no effect, because ${useTls} is not true`);
  } else {
    for (const [variable, value] of pair)
      if (value === undefined) findings.fault(variable, `must be set, because ${useTls} is true`);
  }
  if (tls.clientSan !== undefined && tls.clientCaCert === undefined)
    findings.fault(clientSan, `needs ${clientCa}: without it, callers present no certificate`);
}

function checkLifecycle(values: Values, findings: Findings): void {
  if (values.lifecycle.drainDelay >= values.lifecycle.shutdownTimeout)
    findings.warnings.push(
      "DRAIN_DELAY is not shorter than SHUTDOWN_TIMEOUT: no time is left for the calls in flight",
    );
}

function checkXds(values: Values, findings: Findings): void {
  const { tls, backoff, serverUrl, additionalHeaders } = values.xds;
  const cert = "CONFIG_GRPC_XDS_CLIENT_TLS_CERT";
  const key = "CONFIG_GRPC_XDS_CLIENT_TLS_KEY";
  if (tls.enabled && (tls.cert === undefined) !== (tls.key === undefined))
    findings.fault(
      tls.cert === undefined ? cert : key,
      `must be set, because ${tls.cert === undefined ? key : cert} is set`,
    );
  if (!tls.enabled) {
    const names = [cert, key, "CONFIG_GRPC_XDS_SERVER_TLS_CACERT", "CONFIG_GRPC_XDS_SERVER_TLS_SAN"];
    const given = names.filter((name) => findings.given.has(name));
    if (given.length > 0)
      findings.warnings.push(
        `settings without effect, because CONFIG_GRPC_XDS_SERVER_USE_TLS is not true: ${given.join(", ")}`,
      );
  }
  if (backoff.maxInterval < backoff.initialInterval)
    findings.fault(
      "XDS_CLIENT_BACKOFF_MAX_INTERVAL",
      "must not be shorter than XDS_CLIENT_BACKOFF_INITIAL_INTERVAL",
    );
  if (/^https?:\/\//.test(serverUrl))
    findings.fault("CONFIG_GRPC_XDS_SERVER_URL", "must be host:port, without http:// or https://");
  for (const [name, value] of additionalHeaders) {
    const message = faultOfHeader(name, value.reveal());
    if (message !== undefined) findings.fault("CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", message);
  }
}

/** Explains why gRPC metadata cannot contain a header. Source: the gRPC over HTTP/2 protocol, "Custom-Metadata". */
function faultOfHeader(name: string, value: string): string | undefined {
  if (!/^[0-9a-z_.-]+$/i.test(name) || /^grpc-/i.test(name))
    return `must contain header names of letters, digits, "_", "." and "-" that do not begin with grpc-; invalid: ${JSON.stringify(name)}`;
  if (/-bin$/i.test(name)) return `must not contain binary headers; ${JSON.stringify(name)} ends in -bin`;
  if (!/^[\x20-\x7e]*$/.test(value))
    return `must contain printable ASCII only; the value of ${name} does not`;
  return undefined;
}

/** RFC 9110, section 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function checkNames(values: Values, findings: Findings): void {
  const { limit, remaining, reset } = values.decision.headers;
  for (const [variable, name] of [
    ["LIMIT_LIMIT_HEADER", limit],
    ["LIMIT_REMAINING_HEADER", remaining],
    ["LIMIT_RESET_HEADER", reset],
  ] as const)
    if (!token.test(name)) findings.fault(variable, "must be a valid header name");
  if (!values.stats.pull.path.startsWith("/")) findings.fault("PULLSTATS_PATH", "must begin with a /");
}
