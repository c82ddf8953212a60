/** Where a server listens. */
export type Endpoint =
  | { readonly host: string; readonly port: number }
  /** A unix domain socket. */
  | { readonly path: string };

/** `host:port`, `[v6 address]:port` or a path, as {@link parseEndpoint} reads it back; also an endpoint's identity. */
export function formatEndpoint(endpoint: Endpoint): string {
  if ("path" in endpoint) return endpoint.path;
  return endpoint.host.includes(":")
    ? `[${endpoint.host}]:${endpoint.port}`
    : `${endpoint.host}:${endpoint.port}`;
}

/**
 * Reads `host:port`; an IPv6 address stands in brackets.
 * @param what the setting's name, for the error
 * @throws {TypeError} when there is no host or no port between 1 and 65535
 */
export function parseHostPort(text: string, what: string): { host: string; port: number } {
  const trimmed = text.trim();
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(trimmed);
  const port = match === null ? 0 : Number(match[3]);
  if (match === null || port < 1 || port > 65535)
    throw new TypeError(
      `${what}: "${trimmed}" is not host:port (an IPv6 address stands in brackets: [::1]:6379)`,
    );
  return { host: match[1] ?? match[2]!, port };
}
