import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import type { SecureContext, TlsOptions } from "../types.ts";
import { contextOptions } from "./secure-context.ts";

interface TlsListenerOptions {
  readonly tls: TlsOptions;
  /** Values of `setSecureContext`, which replace those of the options. */
  readonly replaced: SecureContext | undefined;
  readonly handshakeTimeoutMs: number;
  /** A socket was accepted: its handshake begins. */
  onSocket(socket: Socket): void;
  /** A handshake has succeeded, and the caller is trusted. */
  onSecureSocket(socket: TLSSocket): void;
  /** `verifyPeer` threw. The caller is refused. */
  onFault(error: unknown): void;
}

/** A TLS listener. Reports only sockets that have negotiated HTTP/2 and shown the required certificate. */
export function createTlsListener(options: TlsListenerOptions): Server {
  const { tls } = options;
  const requestCert = tls.requestCert ?? false;
  // Loaded on demand: TLS takes 5 MB.
  const server = process.getBuiltinModule("node:tls").createServer({
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
    // RFC 9113 section 3.2: over TLS, HTTP/2 must be negotiated by ALPN.
    if (isTrusted(socket) && socket.alpnProtocol === "h2") options.onSecureSocket(socket);
    else socket.destroy();
  });
  return server;
}
