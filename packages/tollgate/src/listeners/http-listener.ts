import {
  createServer,
  METHODS,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { Application, type ApplicationOptions } from "@tollway/waymark";
import { bindHttpPort } from "../observe/http-port.ts";
import type { Logger } from "../observe/log.ts";
import { showAddress } from "../text/address.ts";
import type { AccessCheck } from "./debug-access.ts";
import { type Certificates, contextOptions, isTrusted } from "./server-tls.ts";

/** Waymark controllers by name: an application's option. */
export type ControllerTable = NonNullable<ApplicationOptions["controllers"]>;

/** An HTTP port with Waymark controllers behind it. */
export interface HttpListener {
  /** The bound address, `0.0.0.0:8080`. */
  readonly address: string;
  /** For new connections. Throws, and keeps the old ones, if certificate and key do not match. */
  replaceCertificates(certificates: Certificates): void;
  /** Closes each connection after its next response, so that clients reconnect to another instance and lose no request. */
  drain(): void;
  /** Stops accepting, and closes connections with running requests after `timeout` milliseconds. */
  close(timeout: number): Promise<void>;
}

export interface HttpListenerOptions {
  /** For messages: `HTTP`, `debug`. */
  readonly name: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly controllers: ControllerTable;
  /** Undefined for no TLS. */
  readonly certificates?: Certificates | undefined;
  /** DNS name that a caller's certificate must have. */
  readonly clientSan?: string | undefined;
  readonly log: Logger;
  /** Refuses requests with 403. Default: no check. */
  readonly access?: AccessCheck;
}

/** Binds and serves. Rejects if the port cannot be bound. */
export async function openHttpListener(options: HttpListenerOptions): Promise<HttpListener> {
  const { name, host, port, controllers, log, access } = options;
  const application = new Application({
    controllers,
    unknownKeywords: "ignore",
    knownMethods: METHODS,
    log: (error, { method, target }) => log.error(`${method} ${target.slice(0, 200)}: ${String(error)}`),
    warn: (message) => log.warn(message),
  });
  await application.ready();
  const { listener } = application;
  let draining = false;
  const server = createListener(options, (request, response) => {
    if (draining) response.shouldKeepAlive = false;
    response.setHeader("x-content-type-options", "nosniff");
    const refusal = access?.(request);
    // The application refuses requests without a version and with several Host headers.
    if (refusal === undefined) listener(request, response);
    else refuse(response, refusal);
  });
  // TCP sockets, below TLS: the HTTP server does not know connections that are still in their handshake.
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const bound = await bindHttpPort(server, { name, host, port, maxConnections: 10_000, log });
  return {
    address: showAddress(bound.address, bound.port),
    replaceCertificates: (certificates) =>
      (server as TlsServer).setSecureContext(contextOptions(certificates)),
    drain: () => {
      draining = true;
    },
    close: async (timeout) => {
      await closeServer(server, sockets, timeout);
      await application.stop();
    },
  };
}

/** Closes connections that send a request too slowly or send none. */
const limits: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
};

function createListener(
  { certificates, clientSan, log }: HttpListenerOptions,
  onRequest: RequestListener,
): Server | TlsServer {
  if (certificates === undefined) return createServer(limits, onRequest);
  const isMutual = certificates.ca !== undefined;
  const server = createTlsServer(
    {
      ...limits,
      ...contextOptions(certificates),
      handshakeTimeout: 10_000,
      requestCert: isMutual,
      rejectUnauthorized: isMutual,
    },
    onRequest,
  );
  if (clientSan !== undefined)
    server.prependListener("secureConnection", (socket) => {
      if (!isTrusted(socket.getPeerCertificate(), clientSan, log)) socket.destroy();
    });
  return server;
}

/** Sends problem details and closes the connection, because a body may follow that is not read. */
function refuse(response: ServerResponse, detail: string): void {
  const status = 403;
  const title = STATUS_CODES[status];
  response.writeHead(status, { "content-type": "application/problem+json", connection: "close" });
  response.end(JSON.stringify({ type: "about:blank", title, status, detail }));
}

function closeServer(
  server: Server | TlsServer,
  sockets: ReadonlySet<Socket>,
  timeout: number,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, timeout);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
