import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

/** What `createSsl` and the channel of grpc-js are to be given, so that the server's certificate is checked for a name. */
export interface TlsTarget {
  readonly verify: {
    checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
  };
  readonly channel: Record<string, string>;
}

/** Stands in where no name may be sent: a name that nobody has (RFC 6761, section 6.4). */
const NOBODY = "ip-address.invalid";

/**
 * grpc-js sends the address's host as the server's name, which RFC 6066 (section 3) forbids for an IP address, and Node
 * refuses: without this no server is reached over TLS by its IP address.
 * @param address a gRPC target: `host:port`, `[::1]:port`, `dns:host:port`
 * @param serverName the name that the certificate must carry; undefined: the address's host
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
