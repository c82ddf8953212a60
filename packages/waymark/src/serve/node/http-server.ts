import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ServerOptions as TlsOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import { REASONS } from "../../http/status.ts";
import type { ServerLimits } from "../server-limits.ts";
import { acceptFaultLog } from "./accept-fault-log.ts";
import { type NodeListener, refuseHead } from "./node-adapter.ts";

// An import of `node:http` reads all its exports. `WebSocket` among them loads the whole of fetch: 27 of the
// 110 ms of CPU of a startup with 100 controllers.
const { createServer } = process.getBuiltinModule("node:http");

/** The address, TLS and limits of a server. */
export interface HttpServerOptions extends ServerLimits {
  /** Undefined: all interfaces. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
  /** Length of the queue of connections that wait to be accepted. Default: 511. */
  backlog?: number;
  /** Certificates and other TLS options. Default: no TLS. */
  tls?: TlsOptions;
  /** False closes a TLS connection whose client certificate is valid, but not acceptable. Default: accepts all. */
  verifyClient?: (certificate: PeerCertificate) => boolean;
  /** Logs errors of a listening server. Default: standard error. */
  log?: (message: string) => void;
  /** Passes connections to the server, which then does not listen itself: `host` and `port` have no meaning. */
  intake?: (server: Server) => Intake;
}

/** A source of connections. */
export interface Intake {
  /** The port that clients use. */
  readonly port: number;
  /** Stops passing connections. Resolves when those that were passed are closed. */
  close(): Promise<void>;
}

/** A listening server. */
export interface RunningServer {
  /** The server of `node:http` or `node:https`. */
  readonly server: Server;
  /** The host that the server listens on. */
  readonly host: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Closes each connection after its next answer. The server still accepts connections. */
  drain(): void;
  /**
   * Stops accepting connections and waits for answers in progress. `startServer` then runs the application's `onStop`.
   * @param drainTimeout replaces the option of that name
   */
  stop(drainTimeout?: number): Promise<void>;
}

/**
 * Serves a listener of `node:http` with the limits of Waymark's server. Refuses requests whose head other HTTP
 * software could read differently. Resolves once the server listens.
 * @example
 * ```ts
 * import { startHttpServer } from "@tollway/waymark/server";
 *
 * const running = await startHttpServer((_, response) => response.end("ok"), { host: "localhost", port: 0 });
 * await running.stop();
 * ```
 */
export function startHttpServer(listener: NodeListener, options: HttpServerOptions): Promise<RunningServer> {
  const serve: NodeListener = (request, response) => {
    if (!refuseHead(request, response)) listener(request, response);
  };
  return openServer({ onRequest: serve }, options);
}

/** Node itself sends "100 Continue" if there is no `onContinue`. */
interface Listeners {
  readonly onRequest: NodeListener;
  readonly onContinue?: NodeListener;
  /** True if the listeners do not read the stream of a request without a body. Node then makes it end at once. */
  readonly skipsEmptyBodies?: boolean;
}

/** Opens a server with its limits, its handling of faults, and its stop. */
export async function openServer(listeners: Listeners, options: HttpServerOptions): Promise<RunningServer> {
  const { tls, maxConnections, drainTimeout = 10_000 } = options;
  const server = createListener(options, tls, listeners.skipsEmptyBodies ?? false);
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  let draining = false;
  const serving = (listener: NodeListener) => (request: IncomingMessage, response: ServerResponse) => {
    if (draining) response.shouldKeepAlive = false;
    listener(request, response);
  };
  server.on("request", serving(listeners.onRequest));
  if (listeners.onContinue !== undefined) server.on("checkContinue", serving(listeners.onContinue));
  server.on("clientError", refuseBroken);
  if (options.verifyClient !== undefined) verifyClients(server, options.verifyClient);
  const sockets = tls === undefined ? new Set<Socket>() : trackSockets(server);
  const intake = options.intake?.(server) ?? (await listen(server, options));
  return {
    server,
    host: options.host ?? "localhost",
    port: intake.port,
    drain() {
      draining = true;
    },
    stop(timeout = drainTimeout) {
      draining = true;
      return close(server, intake, sockets, timeout);
    },
  };
}

function createListener(
  limits: ServerLimits,
  tls: TlsOptions | undefined,
  skipsEmptyBodies: boolean,
): Server {
  const options = {
    headersTimeout: limits.headersTimeout ?? 20_000,
    requestTimeout: limits.requestTimeout ?? 120_000,
    keepAliveTimeout: limits.keepAliveTimeout ?? 65_000,
    maxHeaderSize: limits.maxHeaderSize ?? 16 * 1024,
    connectionsCheckingInterval: limits.checkInterval ?? 5_000,
    // Node's own rejection has no body. The application's has problem details.
    requireHostHeader: false,
    // Saves 3 % of a request's CPU.
    optimizeEmptyRequests: skipsEmptyBodies,
  };
  if (tls === undefined) return createServer(options);
  return process
    .getBuiltinModule("node:https")
    .createServer({ handshakeTimeout: 10_000, ...options, ...tls });
}

/** The TCP sockets of a TLS server. The server itself does not know them before their handshake is complete. */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** Closes refused connections before the server reads a request from them. */
function verifyClients(server: Server, verify: (certificate: PeerCertificate) => boolean): void {
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (!verify(socket.getPeerCertificate())) socket.destroy();
  });
}

/**
 * A listening server may fail later, when it accepts a connection. Without an error listener that would end the
 * process.
 */
function listen(server: Server, { host, port, backlog, log }: HttpServerOptions): Promise<Intake> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      { port, ...(host !== undefined && { host }), ...(backlog !== undefined && { backlog }) },
      () => {
        server.off("error", reject);
        server.on("error", acceptFaultLog(log));
        resolve({
          port: (server.address() as AddressInfo).port,
          close: () => new Promise((closed) => server.close(() => closed())),
        });
      },
    );
  });
}

async function close(
  server: Server,
  intake: Intake,
  sockets: ReadonlySet<Socket>,
  timeout: number,
): Promise<void> {
  const closed = intake.close();
  // `close` closes idle connections only once. Others become idle as their answers end.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  }, timeout);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

const STATUS_OF_FAULT: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Problem details for requests that never reach the application: invalid, too large or too slow. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  const started = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent ?? false;
  if (!socket.writable || started || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_FAULT[error.code ?? ""] ?? 400;
  const { headers, body } = problemAnswer(
    new HttpError(status, detailOf(status), { title: REASONS[status]! }),
  );
  const lines = [`HTTP/1.1 ${status} ${REASONS[status]}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  socket.end(`${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body as string}`);
}

function detailOf(status: number): string {
  if (status === 431) return "the request line and headers are too large";
  if (status === 408) return "the request took too long to arrive";
  if (status === 413) return "the chunk extensions of the body are too large";
  return "the request is not valid HTTP/1.1";
}
