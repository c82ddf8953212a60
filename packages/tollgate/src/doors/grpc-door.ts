import {
  type BoundAddress,
  GrpcServer,
  ReflectionService,
  type ServerOptions,
  type TlsOptions,
} from "@tollway/grpc-wire";
import type { Health } from "../observe/health.ts";
import type { Logger } from "../observe/log.ts";
import type { Counter, Statistics, Timer } from "../observe/statistics.ts";
import { descriptorSet } from "../protocol/gen/descriptor-set.ts";
import { showAddress } from "./address.ts";
import type { Answering } from "./answering.ts";
import { serveHealth } from "./grpc-health.ts";
import { serveDecisions } from "./grpc-methods.ts";

export interface GrpcDoorOptions {
  readonly where: { readonly host: string; readonly port: number } | { readonly path: string };
  readonly tls: TlsOptions | undefined;
  /** Milliseconds; 0 for never. */
  readonly maxConnectionAge: number;
  readonly maxConnectionAgeGrace: number;
  readonly answering: Answering;
  readonly health: Health;
  readonly statistics: Statistics;
  readonly log: Logger;
}

/** The gRPC port: decisions, health, reflection. */
export interface GrpcDoor {
  readonly address: string;
  readonly server: GrpcServer;
  close(timeout: number): Promise<void>;
}

/** Binds and serves. Rejects where the address cannot be had. */
export async function openGrpcDoor(options: GrpcDoorOptions): Promise<GrpcDoor> {
  const { where, tls, answering, statistics, log } = options;
  const observer = new MethodStatistics(statistics);
  const server = new GrpcServer({
    ...(tls !== undefined && { tls }),
    connection: {
      maxConnectionAgeMs: options.maxConnectionAge,
      maxConnectionAgeGraceMs: options.maxConnectionAgeGrace,
    },
    observer: { callFinished: (path, _status, milliseconds) => observer.record(path, milliseconds) },
    onHandlerError: (error, path) => log.error(`${path}: ${String(error)}`),
    onConnectionError: ({ peer, code, message }) =>
      log.debug(() => `gRPC connection of ${peer}: ${code}: ${message}`),
  } satisfies ServerOptions);
  serveDecisions(server, answering);
  const forget = serveHealth(server, options.health);
  new ReflectionService(Buffer.from(descriptorSet, "base64")).addTo(server);
  let bound: BoundAddress;
  try {
    bound = await server.listen("path" in where ? { path: where.path } : { ...where });
  } catch (error) {
    const place = "path" in where ? where.path : showAddress(where.host, where.port);
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot listen for gRPC on ${place}: ${problem}`, { cause: error });
  }
  return {
    address: bound.kind === "unix" ? bound.path : showAddress(bound.host, bound.port),
    server,
    close: async (timeout) => {
      await server.drain({ timeoutMs: timeout });
      forget();
    },
  };
}

/** `ratelimit_server.<method>.total_requests` and `.response_time`, made once a method. Methods are known ones: callers make none. */
class MethodStatistics {
  readonly #statistics: Statistics;
  readonly #methods = new Map<string, { total: Counter; time: Timer }>();

  constructor(statistics: Statistics) {
    this.#statistics = statistics;
  }

  record(path: string, milliseconds: number): void {
    let method = this.#methods.get(path);
    if (method === undefined) {
      const name = `ratelimit_server.${path.slice(path.lastIndexOf("/") + 1)}`;
      method = {
        total: this.#statistics.counter(`${name}.total_requests`),
        time: this.#statistics.timer(`${name}.response_time`),
      };
      this.#methods.set(path, method);
    }
    method.total.value++;
    method.time.record(milliseconds);
  }
}
