import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Application } from "../application.ts";
import { HttpError, problemAnswer } from "../http/error.ts";
import { type NodeAdapterOptions, type NodeListener, nodeListener } from "./node.ts";

/** Where to listen, and how long anybody may take. Times are in milliseconds; 0 switches one off. */
export interface ServerOptions {
  /** Undefined for every interface. */
  host: string | undefined;
  /** 0 picks a free one. */
  port: number;
  /** For the headers of a request. Default 20,000. */
  headersTimeout?: number;
  /** For a whole request with its body. Default 120,000. */
  requestTimeout?: number;
  /** Between two requests of one connection. Default 65,000: longer than the proxies before it wait. */
  keepAliveTimeout?: number;
  /** For a client that takes nothing of its answer. Default 60,000. */
  sendTimeout?: number;
  /** For answers under way when the server stops. Default 10,000. */
  drainTimeout?: number;
  /** Bytes of request line and headers. Default 16 KiB: 431 beyond. */
  maxHeaderSize?: number;
  /** How often time-outs are looked at. Default 5,000. */
  checkInterval?: number;
  /** The interface that requests are served through. Default: straight from `node:http`. */
  listener?: (application: Application, options: NodeAdapterOptions) => NodeListener;
}

/** A server that listens. */
export interface RunningServer {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, lets answers under way finish, then runs the application's `onStop`. */
  stop(): Promise<void>;
}

/** Serves an application on `node:http`; resolves once it listens. */
export async function startServer(application: Application, options: ServerOptions): Promise<RunningServer> {
  await application.ready();
  const { sendTimeout = 60_000, drainTimeout = 10_000, headersTimeout = 20_000 } = options;
  const server = createServer({
    headersTimeout,
    requestTimeout: options.requestTimeout ?? 120_000,
    keepAliveTimeout: options.keepAliveTimeout ?? 65_000,
    maxHeaderSize: options.maxHeaderSize ?? 16 * 1024,
    connectionsCheckingInterval: options.checkInterval ?? 5_000,
  });
  let stopping = false;
  const serving =
    (listener: (request: IncomingMessage, response: ServerResponse) => void) =>
    (request: IncomingMessage, response: ServerResponse) => {
      if (stopping) response.shouldKeepAlive = false;
      listener(request, response);
    };
  const { listener = nodeListener } = options;
  server.on("request", serving(listener(application, { sendTimeout })));
  server.on("checkContinue", serving(listener(application, { sendTimeout, expectsContinue: true })));
  server.on("clientError", refuseBroken);
  await listen(server, options);
  const address = server.address() as AddressInfo;
  return {
    server,
    host: options.host ?? "localhost",
    port: address.port,
    async stop() {
      stopping = true;
      await drain(server, drainTimeout);
      await application.stop();
    },
  };
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function drain(server: Server, drainTimeout: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections become idle one by one as their answers end; `close` has only looked once.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeout);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

const STATUS_OF_FAULT: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** What is not HTTP, or came too slowly, never reaches the application; it gets problem details like anything else. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  const started = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent ?? false;
  if (!socket.writable || started || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_FAULT[error.code ?? ""] ?? 400;
  const { headers, body } = problemAnswer(new HttpError(status, detailOf(status)));
  const lines = [`HTTP/1.1 ${status} ${status === 431 ? "Request Header Fields Too Large" : "Bad Request"}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  socket.end(`${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body as string}`);
}

function detailOf(status: number): string {
  if (status === 431) return "the request line and headers are too large";
  if (status === 408) return "the request took too long to arrive";
  return "the request is not valid HTTP/1.1";
}
