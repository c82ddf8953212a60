import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import type { SecureContext, TlsOptions } from "../types.ts";
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
