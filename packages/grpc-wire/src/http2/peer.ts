import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";

/** The other end of a connection: its address and its certificate. */
export class Peer {
  /** `127.0.0.1:54321`, `[::1]:54321`, or `unix:`. Kept, because a socket forgets it when it closes. */
  readonly address: string;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.address = addressOf(socket);
    this.#socket = socket;
  }

  /** The peer's certificate, when the connection is TLS and the peer showed one. */
  get certificate(): PeerCertificate | undefined {
    if (!("getPeerCertificate" in this.#socket)) return undefined;
    const certificate = (this.#socket as TLSSocket).getPeerCertificate();
    return Object.keys(certificate ?? {}).length === 0 ? undefined : certificate;
  }
}

function addressOf({ remoteAddress, remotePort, remoteFamily }: Socket): string {
  if (remoteAddress === undefined) return "unix:";
  return remoteFamily === "IPv6" ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
