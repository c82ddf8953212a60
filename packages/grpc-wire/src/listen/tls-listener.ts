import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { SecureContext, TlsOptions } from "../types.ts";
import { contextOptions } from "./secure-context.ts";

interface TlsListenerOptions {
  readonly tls: TlsOptions;
  /** What `setSecureContext` put in the place of the options' own. */
  readonly replaced: SecureContext | undefined;
  readonly handshakeTimeoutMs: number;
  /** A socket was accepted: its handshake begins. */
  onSocket(socket: Socket): void;
  /** A handshake has ended well, with a caller who may come in. */
  onSecureSocket(socket: TLSSocket): void;
  /** `verifyPeer` threw: the caller is refused. */
  onFault(error: unknown): void;
}

/** A listener whose sockets have negotiated HTTP/2 and shown the certificate that is asked for, when it tells of them. */
export function createTlsListener(options: TlsListenerOptions): Server {
  const { tls } = options;
  const requestCert = tls.requestCert ?? false;
  const server = createServer({
    ...contextOptions(tls, options.replaced),
    ALPNProtocols: ["h2"],
    requestCert,
    rejectUnauthorized: requestCert,
    handshakeTimeout: options.handshakeTimeoutMs,
  });
  const isTrusted = (socket: TLSSocket): boolean => {
    if (!requestCert || tls.verifyPeer === undefined) return true;
    try {
      return tls.verifyPeer(socket.getPeerCertificate());
    } catch (error) {
      options.onFault(error);
      return false;
    }
  };
  server.on("connection", (socket: Socket) => options.onSocket(socket));
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket: TLSSocket) => {
    // RFC 9113 section 3.2: over TLS, HTTP/2 is negotiated by ALPN or not spoken.
    if (isTrusted(socket) && socket.alpnProtocol === "h2") options.onSecureSocket(socket);
    else socket.destroy();
  });
  return server;
}
