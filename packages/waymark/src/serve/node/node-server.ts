import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ServerOptions as TlsOptions } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { HttpError, problemAnswer } from "../../http/http-error.ts";
import { REASONS } from "../../http/status.ts";
import type { AsgiApplication } from "../asgi/asgi-types.ts";
import type { Lifecycle, RequestHandler } from "../handler.ts";
import type { ServerLimits } from "../server-limits.ts";
import type { WsgiApplication } from "../wsgi/wsgi-types.ts";
import { type NodeAdapterOptions, type NodeListener, nodeListener } from "./node-adapter.ts";

// An import of `node:http` reads all its exports. `WebSocket` among them loads the whole of fetch: 27 of the
// 110 ms of CPU of a start with 100 controllers.
const { createServer } = process.getBuiltinModule("node:http");

/** What the server needs of an application. */
export interface ServedApplication extends RequestHandler, Lifecycle {
  readonly options: { readonly server?: ServerLimits };
  readonly asgi: AsgiApplication;
  readonly wsgi: WsgiApplication;
  /** Ends the event streams. The server calls it before it waits for its answers. */
  closeEventStreams(): void;
}

/** The address to listen on. Missing limits come from the application's option `server`. */
export interface ServerOptions extends ServerLimits {
  /** Undefined: all interfaces. */
  host: string | undefined;
  /** 0: any free port. */
  port: number;
  /** Length of the queue of connections that wait to be accepted. Default: 511. */
  backlog?: number;
  /** Certificates and other TLS options. Default: no TLS. */
  tls?: TlsOptions;
  /** Logs errors of a listening server. Default: standard error. */
  log?: (message: string) => void;
  /** Creates the request listener. Default: the adapter for `node:http`. */
  listener?: (application: ServedApplication, options: NodeAdapterOptions) => NodeListener;
}

/** A listening server. */
export interface RunningServer {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /** Closes each connection after its next answer. The server still accepts connections. */
  drain(): void;
  /** Stops accepting connections, waits for answers in progress, then runs the application's `onStop`. */
  stop(): Promise<void>;
}

/** Serves an application on `node:http`, or on `node:https` with the option `tls`. Resolves once it listens. */
export async function startServer(
  application: ServedApplication,
  options: ServerOptions,
): Promise<RunningServer> {
  await application.ready();
  const limits: ServerLimits = { ...application.options.server, ...options };
  const { sendTimeout = 60_000, drainTimeout = 10_000 } = limits;
  const server = createListener(limits, options.tls);
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections;
  let draining = false;
  const serving =
    (listener: (request: IncomingMessage, response: ServerResponse) => void) =>
    (request: IncomingMessage, response: ServerResponse) => {
      if (draining) response.shouldKeepAlive = false;
      listener(request, response);
    };
  const { listener = nodeListener } = options;
  server.on("request", serving(listener(application, { sendTimeout })));
  server.on("checkContinue", serving(listener(application, { sendTimeout, expectsContinue: true })));
  server.on("clientError", refuseBroken);
  const sockets = options.tls === undefined ? new Set<Socket>() : trackSockets(server);
  await listen(server, options);
  const address = server.address() as AddressInfo;
  return {
    server,
    host: options.host ?? "localhost",
    port: address.port,
    drain() {
      draining = true;
    },
    async stop() {
      draining = true;
      application.closeEventStreams();
      await close(server, sockets, drainTimeout);
      await application.stop();
    },
  };
}

function createListener(limits: ServerLimits, tls: TlsOptions | undefined): Server {
  const options = {
    headersTimeout: limits.headersTimeout ?? 20_000,
    requestTimeout: limits.requestTimeout ?? 120_000,
    keepAliveTimeout: limits.keepAliveTimeout ?? 65_000,
    maxHeaderSize: limits.maxHeaderSize ?? 16 * 1024,
    connectionsCheckingInterval: limits.checkInterval ?? 5_000,
    // Node's own rejection has no body. The application's has problem details.
    requireHostHeader: false,
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

/**
 * A listening server may fail later, when it accepts a connection. Without an error listener that would end the
 * process.
 */
function listen(server: Server, { host, port, backlog, log }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      { port, ...(host !== undefined && { host }), ...(backlog !== undefined && { backlog }) },
      () => {
        server.off("error", reject);
        server.on("error", acceptFaultLog(log));
        resolve();
      },
    );
  });
}

/** Shortest time between two log lines of such an error. Without free descriptors every connection causes one. */
const FAULT_LOG_MS = 10_000;

function acceptFaultLog(log: ServerOptions["log"]): (error: Error) => void {
  let quietUntil = 0;
  return (error) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + FAULT_LOG_MS;
    const message = `cannot accept a connection: ${error.message}`;
    if (log === undefined) console.error(`waymark: ${message}`);
    else log(message);
  };
}

async function close(server: Server, sockets: ReadonlySet<Socket>, timeout: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
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
  const { headers, body } = problemAnswer(new HttpError(status, detailOf(status)));
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
