import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";

/** The address and the certificate of a connection's peer. */
export class Peer {
  /** `127.0.0.1:54321`, `[::1]:54321`, or `unix:`. It is stored here because a closed socket has no address. */
  readonly address: string;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.address = addressOf(socket);
    this.#socket = socket;
  }

  /** The certificate that the peer presented over TLS. */
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
