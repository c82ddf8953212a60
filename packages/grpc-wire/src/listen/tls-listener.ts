import type { Socket } from "node:net";
import type { PeerCertificate, Server, TLSSocket } from "node:tls";
import type { RefusedPeer, SecureContext, TlsOptions } from "../types.ts";
import { contextOptions } from "./secure-context.ts";

interface TlsListenerOptions {
  readonly tls: TlsOptions;
  /** The values of `setSecureContext`, which override the options. */
  readonly replaced: SecureContext | undefined;
  readonly handshakeTimeoutMs: number;
  /** Called with an accepted socket, before its handshake. */
  onSocket(socket: Socket): void;
  /** Called after a successful handshake with a trusted caller. */
  onSecureSocket(socket: TLSSocket): void;
  /** Called with an error of `verifyPeer`. The server refuses the caller. */
  onFault(error: unknown): void;
  /** Called for each caller that gets no connection, except one that leaves during the handshake. */
  onRefused(refused: RefusedPeer): void;
}

/** Creates a TLS listener. Only sockets with ALPN `h2` and the required certificate reach `onSecureSocket`. */
export function createTlsListener(options: TlsListenerOptions): Server {
  const { tls } = options;
  const requestCert = tls.requestCert ?? false;
  // Loaded on demand: TLS takes 5 MB.
  const server = process.getBuiltinModule("node:tls").createServer({
    ...contextOptions(tls, options.replaced),
    ALPNProtocols: ["h2"],
    requestCert,
    // `refusal` checks the certificate. Node would close the socket before the certificate could be reported.
    rejectUnauthorized: false,
    handshakeTimeout: options.handshakeTimeoutMs,
  });
  const isTrusted = (certificate: PeerCertificate): boolean => {
    try {
      return tls.verifyPeer?.(certificate) ?? true;
    } catch (error) {
      options.onFault(error);
      return false;
    }
  };
  /** The reason to refuse a caller; undefined for none. */
  function refusal(socket: TLSSocket, certificate: PeerCertificate): string | undefined {
    if (requestCert) {
      // A resumed session counts as authorized even if its first handshake had no certificate.
      if (!isPresent(certificate)) return "it presented no certificate";
      if (!socket.authorized) return `its certificate is not trusted (${socket.authorizationError})`;
      if (!isTrusted(certificate)) return "`verifyPeer` does not accept its certificate";
    }
    // RFC 9113 section 3.2: over TLS, HTTP/2 must be negotiated by ALPN.
    return socket.alpnProtocol === "h2" ? undefined : "it did not negotiate h2 by ALPN";
  }
  server.on("connection", (socket: Socket) => options.onSocket(socket));
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    const peer = peerOf(socket);
    socket.destroy();
    // A load balancer that only opens a connection to see whether the port is open is not a fault.
    if (error.code === "ECONNRESET") return;
    const reason =
      error.code === "ERR_SSL_NO_APPLICATION_PROTOCOL" ? "it did not offer h2 by ALPN" : error.code;
    options.onRefused({ peer, reason: reason ?? error.message, subject: undefined });
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const certificate = socket.getPeerCertificate();
    const reason = refusal(socket, certificate);
    if (reason === undefined) {
      options.onSecureSocket(socket);
      return;
    }
    const peer = peerOf(socket);
    socket.destroy();
    options.onRefused({ peer, reason, subject: subjectOf(certificate) });
  });
  return server;
}

function peerOf({ remoteAddress = "", remotePort }: Socket): string {
  return remoteAddress.includes(":") ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}

/** Node returns an object without fields, or null, for a peer without a certificate. */
function isPresent(certificate: PeerCertificate | null): boolean {
  return certificate?.raw !== undefined;
}

/** `CN=gateway, O=example`. */
function subjectOf(certificate: PeerCertificate): string | undefined {
  if (!isPresent(certificate)) return undefined;
  return Object.entries(certificate.subject ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(", ");
}
