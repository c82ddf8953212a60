import type { ClientTls, Settings } from "../settings/settings.ts";

/**
 * Makes this thread trust the certificate store of the system, beside the CAs of Node and of `NODE_EXTRA_CA_CERTS`. That
 * applies to connections without a CA of their own: to stores, to a management server and to a collector of traces. Such
 * certificates often come from a company's own CA. Reading the store takes 50 ms of CPU, so it happens only if needed.
 * `SSL_CERT_FILE` and `SSL_CERT_DIR` name another store.
 */
export async function trustSystemAuthorities(settings: Settings): Promise<void> {
  if (!needsAuthorities(settings)) return;
  const { getCACertificates, setDefaultCACertificates } = await import("node:tls");
  setDefaultCACertificates([...new Set([...getCACertificates("default"), ...getCACertificates("system")])]);
}

function needsAuthorities({ kvstore, objcache, xds, config, tracing }: Settings): boolean {
  const connections: readonly (Pick<ClientTls, "caCert"> | undefined)[] = [
    kvstore?.main.tls,
    kvstore?.perSecond?.tls,
    objcache?.tls,
    config.type === "xds" ? xds.tls : undefined,
  ];
  // The exporter reads its endpoint itself: it may be https.
  return tracing !== undefined || connections.some((tls) => tls !== undefined && tls.caCert === undefined);
}
