import {
  type BoundAddress,
  GrpcServer,
  HealthService,
  type LimitOptions,
  ReflectionService,
  type TlsOptions,
} from "@tollway/grpc-wire";
import type { Health } from "../observe/health.ts";
import { listenerErrorLogger } from "../observe/listener-errors.ts";
import type { Logger } from "../observe/log.ts";
import type { Counter, Statistics, Timer } from "../observe/statistics.ts";
import type { Tracing } from "../observe/tracing/tracing.ts";
import { descriptorSet } from "../protocol/gen/descriptor-set.ts";
import { CHECK_RATE_LIMIT, COMMIT, REPORT, RESERVE, SHOULD_RATE_LIMIT } from "../protocol/method.ts";
import { showAddress } from "../text/address.ts";
import { answerOversized, serveDecisions } from "./grpc-methods.ts";
import { serveReservations } from "./grpc-reservations.ts";
import { carriesDnsName } from "./peer-name.ts";
import type { RateLimitHandler } from "./rate-limit-handler.ts";
import { refusedCallerLog } from "./refused-callers.ts";
import type { ReservationHandler } from "./reservation-handler.ts";
import type { Certificates } from "./server-tls.ts";

export interface GrpcListenerOptions {
  readonly where:
    | { readonly host: string; readonly port: number; readonly reusePort?: boolean }
    | { readonly path: string; readonly mode?: number };
  /** Undefined for no TLS. */
  readonly certificates: Certificates | undefined;
  readonly maxRequestBytes: number;
  /** DNS name that a caller's certificate must carry. */
  readonly clientSan: string | undefined;
  /** Milliseconds; 0 for never. */
  readonly maxConnectionAge: number;
  readonly maxConnectionAgeGrace: number;
  /** Threads of the process that serve gRPC. Each gets an equal share of the process's memory limits. */
  readonly threads: number;
  readonly handler: RateLimitHandler;
  readonly reservations: ReservationHandler;
  readonly tracing: Tracing;
  readonly health: Health;
  readonly statistics: Statistics;
  readonly log: Logger;
}

/** The gRPC port: decisions, health, reflection. */
export interface GrpcListener {
  /** `0.0.0.0:8081`, or the socket's path. */
  readonly address: string;
  /** 0 for a socket's path. */
  readonly port: number;
  /**
   * Replaces the certificates of new connections. Throws, and keeps the old ones, if the certificate and the key do not
   * match.
   */
  replaceCertificates(certificates: Certificates): void;
  /** Connections that take calls. */
  readonly connections: number;
  /** Asks the callers of some connections to connect again. Their running calls finish. */
  release(connections: number): void;
  /** Sends GOAWAY and gives running calls at most `timeout` milliseconds. */
  close(timeout: number): Promise<void>;
}

/** Binds and serves. Rejects if the address cannot be bound. */
export async function openGrpcListener(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { where, certificates, handler, statistics, log } = options;
  const observer = new MethodStatistics(statistics);
  const server = new GrpcServer({
    ...(certificates !== undefined && { tls: tlsOptions(certificates, options) }),
    connection: {
      maxConnectionAgeMs: options.maxConnectionAge,
      maxConnectionAgeGraceMs: options.maxConnectionAgeGrace,
    },
    limits: { ...heldBytes(options.threads), maxRequestBytes: options.maxRequestBytes },
    onOversizedMessage: (path) => (path === SHOULD_RATE_LIMIT ? answerOversized(handler) : undefined),
    observer: {
      callFinished: (path, _status, milliseconds, calls) => observer.record(path, milliseconds, calls),
    },
    onHandlerError: (error, path) => log.error(`${path}: ${String(error)}`),
    onRefusedPeer: refusedCallerLog(log, options.clientSan),
    onConnectionError: ({ peer, code, message }) =>
      log.debug(() => `gRPC connection of ${peer}: ${code}: ${message}`),
    onListenerError: listenerErrorLogger("gRPC", log),
  });
  serveDecisions(server, handler, options.tracing);
  serveReservations(server, options.reservations, handler, options.tracing);
  const unsubscribe = serveHealth(server, options.health);
  new ReflectionService(Buffer.from(descriptorSet, "base64")).addTo(server);
  const bound = await bind(server, where);
  return {
    address: bound.kind === "unix" ? bound.path : showAddress(bound.host, bound.port),
    port: bound.kind === "unix" ? 0 : bound.port,
    replaceCertificates: ({ cert, key, ca }) =>
      server.setSecureContext({ cert, key, ...(ca !== undefined && { ca }) }),
    get connections() {
      return server.servingConnections;
    },
    release: (connections) => void server.releaseConnections(connections),
    close: async (timeout) => {
      await server.drain({ timeoutMs: timeout });
      unsubscribe();
    },
  };
}

/** Limit on the bytes of unfinished requests, and on those of unread responses, of one process. */
const PROCESS_HELD_BYTES = 256 * 1024 * 1024;

/** One thread's share of the process's limits. */
export function heldBytes(
  threads: number,
): Pick<Required<LimitOptions>, "maxBufferedBytes" | "maxQueuedBytes"> {
  const share = Math.floor(PROCESS_HELD_BYTES / threads);
  return { maxBufferedBytes: share, maxQueuedBytes: share };
}

async function bind(server: GrpcServer, where: GrpcListenerOptions["where"]): Promise<BoundAddress> {
  try {
    return await server.listen({ ...where });
  } catch (error) {
    const place = "path" in where ? where.path : showAddress(where.host, where.port);
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot listen for gRPC on ${place}: ${problem}`, { cause: error });
  }
}

function tlsOptions({ cert, key, ca }: Certificates, { clientSan }: GrpcListenerOptions): TlsOptions {
  if (ca === undefined) return { cert, key };
  return {
    cert,
    key,
    ca,
    requestCert: true,
    ...(clientSan !== undefined && { verifyPeer: (peer) => carriesDnsName(peer, clientSan) }),
  };
}

/** Unary methods only: the duration of a stream is not a response time. */
const counted = [SHOULD_RATE_LIMIT, "/grpc.health.v1.Health/Check"];
/** Their statistics appear with the first call. */
const countedWhenUsed = new Set([CHECK_RATE_LIMIT, REPORT, RESERVE, COMMIT]);

/** `ratelimit_server.<method>.total_requests` and `.response_time`. */
class MethodStatistics {
  readonly #statistics: Statistics;
  readonly #methods = new Map<string, { readonly total: Counter; readonly time: Timer }>();

  constructor(statistics: Statistics) {
    this.#statistics = statistics;
    for (const path of counted) this.#add(path);
  }

  #add(path: string) {
    const name = `ratelimit_server.${path.slice(path.lastIndexOf("/") + 1)}`;
    const total = this.#statistics.counter(`${name}.total_requests`);
    const method = { total, time: this.#statistics.timer(`${name}.response_time`) };
    this.#methods.set(path, method);
    return method;
  }

  record(path: string, milliseconds: number, calls: number): void {
    const method = this.#methods.get(path) ?? (countedWhenUsed.has(path) ? this.#add(path) : undefined);
    if (method === undefined) return;
    method.total.value += calls;
    method.time.record(milliseconds, calls);
  }
}

/** Service names with the overall health: the whole server, the Go service's name, the protocol's. */
const healthNames = ["", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"];

/** Serves `grpc.health.v1.Health`. @returns a function that ends the subscription to the service's health */
function serveHealth(server: GrpcServer, health: Health): () => void {
  const service = new HealthService();
  function update(healthy: boolean): void {
    for (const name of healthNames) service.set(name, healthy ? "SERVING" : "NOT_SERVING");
  }
  update(health.healthy);
  service.addTo(server);
  return health.subscribe(update);
}
