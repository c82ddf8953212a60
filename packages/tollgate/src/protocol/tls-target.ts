import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

/** Options for `createSsl` and the channel of grpc-js that set the name to check in the server's certificate. */
export interface TlsTarget {
  readonly verify: {
    checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
  };
  readonly channel: Record<string, string>;
}

/** Replaces the server name where none may be sent: no host has this name (RFC 6761, section 6.4). */
const NOBODY = "ip-address.invalid";

/**
 * grpc-js sends the address's host as the server name. RFC 6066 (section 3) forbids that for an IP address, and Node
 * refuses it, so a server could not be reached over TLS by its IP address without these options.
 * @param address a gRPC target: `host:port`, `[::1]:port`, `dns:host:port`
 * @param serverName the name that the certificate must have. Default: the address's host
 */
export function tlsTarget(address: string, serverName: string | undefined): TlsTarget {
  if (serverName !== undefined) {
    const channel = { "grpc.ssl_target_name_override": serverName, "grpc.default_authority": serverName };
    return { verify: {}, channel };
  }
  const [, bracketed, plain = ""] =
    /^(?:(?:dns:(?:\/\/[^/]*\/)?)|ipv[46]:)?(?:\[([^\]]+)\]|([^:/]+))(?::\d+)?$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (isIP(host) === 0) return { verify: {}, channel: {} };
  return {
    verify: { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) },
    channel: { "grpc.ssl_target_name_override": NOBODY, "grpc.default_authority": address },
  };
}
