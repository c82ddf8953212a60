import { connect as connectPlain, isIP, type Socket } from "node:net";
import { type BackoffOptions, backoffDelay } from "../../backoff.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { type ClientTlsOptions, tlsConnectionOptions } from "./tls.ts";

const KEEP_ALIVE_MS = 10_000;

const reconnectBackoff: BackoffOptions = { initialInterval: 25, maxInterval: 1000, factor: 1, jitter: 0.5 };

/**
 * Milliseconds to wait before the next attempt to connect. The delay doubles from 25 ms to 1 s with each failure in a
 * row. A random part of up to half of it keeps a fleet from reconnecting all at once.
 * @param failures in a row, at least 1
 */
export function reconnectDelay(failures: number): number {
  return backoffDelay(failures, reconnectBackoff);
}

/**
 * Opens a socket. With `tls` it resolves after the handshake and the verification of the peer.
 * @param timeout milliseconds for name lookup, connecting and handshake together
 * @throws {Error} the message names the endpoint
 */
export function openSocket(
  endpoint: Endpoint,
  tls: ClientTlsOptions | undefined,
  timeout: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket =
      tls === undefined
        ? connectPlain(endpoint)
        : // Loaded on demand: TLS takes 5 MB.
          process.getBuiltinModule("node:tls").connect({
            ...endpoint,
            ...tlsConnectionOptions(tls),
            ...("host" in endpoint && isIP(endpoint.host) === 0 && { servername: endpoint.host }),
          });
    const fail = (reason: string, cause?: Error) => {
      clearTimeout(timer);
      // A later error of this socket must not end the process.
      socket.on("error", () => {});
      socket.destroy();
      reject(new Error(`cannot connect to ${formatEndpoint(endpoint)}: ${reason}`, { cause }));
    };
    const timer = setTimeout(fail, timeout, `no answer within ${timeout} ms`);
    const onError = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message, error);
    const onClose = () => fail("the server closed the connection");
    socket.once("error", onError);
    socket.once("close", onClose);
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      clearTimeout(timer);
      socket.off("error", onError);
      socket.off("close", onClose);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
  });
}
