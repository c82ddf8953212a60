import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import { Application, type ApplicationOptions, type ServerLimits } from "@tollway/waymark";
import {
  type HttpServerOptions,
  nodeListener,
  type ServerOptions,
  startServer,
} from "@tollway/waymark/server";
import { openHttpPort } from "../observe/http-port.ts";
import type { Logger } from "../observe/log.ts";
import type { AccessCheck } from "./debug-access.ts";
import { type Certificates, contextOptions, isTrusted } from "./server-tls.ts";

// An import of `node:http` reads all its exports. `WebSocket` among them loads the whole of fetch: 16 MB.
const { METHODS, STATUS_CODES } = process.getBuiltinModule("node:http");

/** Waymark controllers by name: an application's option. */
export type ControllerTable = NonNullable<ApplicationOptions["controllers"]>;

/** An HTTP port with Waymark controllers behind it. */
export interface HttpListener {
  /** The bound address, `0.0.0.0:8080`. */
  readonly address: string;
  /**
   * Replaces the certificates of new connections. Throws, and keeps the old ones, if the certificate and the key do not
   * match.
   */
  replaceCertificates(certificates: Certificates): void;
  /** Closes each connection after its next response, so that clients reconnect to another instance and lose no request. */
  drain(): void;
  /** Stops accepting, and closes connections with running requests after `timeout` milliseconds. */
  close(timeout: number): Promise<void>;
}

export interface HttpListenerOptions {
  /** The name in messages: `HTTP`, `debug`. */
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
  /** Sees every request that `access` lets pass. Default: all requests are served. */
  readonly guard?: Guard;
}

type RequestHandler = Parameters<typeof nodeListener>[0];
type Answer = Awaited<ReturnType<RequestHandler["handle"]>>;

/** An answer to a request that is not served: problem details. */
export interface Refusal {
  readonly status: number;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves a request by calling `serve`, or returns why it is refused. */
export type Guard = (request: IncomingMessage, serve: () => void) => Refusal | undefined;

/** Closes connections that send a request too slowly or send none. */
const LIMITS: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
  maxConnections: 10_000,
};

/** Binds and serves. Rejects if the port cannot be bound. */
export async function openHttpListener(options: HttpListenerOptions): Promise<HttpListener> {
  const { controllers, log, access, guard } = options;
  const application = new Application({
    controllers,
    unknownKeywords: "ignore",
    knownMethods: METHODS,
    server: LIMITS,
    log: (error, { method, target }) => log.error(`${method} ${target.slice(0, 200)}: ${String(error)}`),
    warn: (message) => log.warn(message),
  });
  await application.ready();
  const { running, address } = await openHttpPort(options, (port) =>
    startServer(application, { ...port, ...tlsOptions(options), listener: checkedListener(access, guard) }),
  );
  return {
    address,
    replaceCertificates: (certificates) =>
      (running.server as TlsServer).setSecureContext(contextOptions(certificates)),
    drain: () => running.drain(),
    close: (timeout) => running.stop(timeout),
  };
}

function tlsOptions({
  certificates,
  clientSan,
  log,
}: HttpListenerOptions): Pick<HttpServerOptions, "tls" | "verifyClient"> {
  if (certificates === undefined) return {};
  const isMutual = certificates.ca !== undefined;
  return {
    tls: { ...contextOptions(certificates), requestCert: isMutual, rejectUnauthorized: isMutual },
    ...(clientSan !== undefined && { verifyClient: (peer) => isTrusted(peer, clientSan, log) }),
  };
}

/** Waymark's listener behind the checks. */
function checkedListener(
  access: AccessCheck | undefined,
  guard: Guard = serveAll,
): NonNullable<ServerOptions["listener"]> {
  return (application, options) => {
    const serve = nodeListener(withNosniff(application), options);
    return (request, response) => {
      // Waymark refuses other versions without the application.
      if (request.httpVersionMajor !== 1) response.setHeader("x-content-type-options", "nosniff");
      const detail = access?.(request);
      const refusal =
        detail === undefined
          ? guard(request, () => serve(request, response))
          : ({ status: 403, detail } as Refusal);
      if (refusal !== undefined) refuse(response, refusal);
    };
  };
}

/**
 * Adds `x-content-type-options: nosniff` to all answers. `setHeader` does the same, but then Node's `writeHead` copies all
 * headers: 3.5 of 24 us for `/json`.
 */
function withNosniff(application: RequestHandler): RequestHandler {
  const add = (answer: Answer): Answer => {
    answer.headers.push("x-content-type-options", "nosniff");
    return answer;
  };
  return {
    handle: (incoming) => {
      const answer = application.handle(incoming);
      return answer instanceof Promise ? answer.then(add) : add(answer);
    },
    report: (error, request) => application.report(error, request),
  };
}

function serveAll(_request: IncomingMessage, serve: () => void): undefined {
  serve();
}

/** Sends problem details and closes the connection, because a body may follow that is not read. */
function refuse(response: ServerResponse, { status, detail, headers }: Refusal): void {
  const title = STATUS_CODES[status];
  response.writeHead(status, {
    ...headers,
    "content-type": "application/problem+json",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(JSON.stringify({ type: "about:blank", title, status, detail }));
}
