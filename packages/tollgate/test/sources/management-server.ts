import { readFileSync } from "node:fs";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "../../src/protocol/gen/envoy/service/discovery/v3/discovery_pb.ts";
import { RateLimitConfigSchema } from "../../src/protocol/gen/ratelimit/config/ratelimit/v3/rls_conf_pb.ts";

export const TYPE_URL = "type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig";
export const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

type ConfigInit = MessageInitShape<typeof RateLimitConfigSchema>;
type ResponseInit = MessageInitShape<typeof DiscoveryResponseSchema>;

/** A resource with one limit. */
export function resource(name: string, domain: string, key = "k"): ConfigInit {
  return { name, domain, descriptors: [{ key, rateLimit: { unit: 2, requestsPerUnit: 5 } }] };
}

/** A first-in, first-out queue that can be waited on. */
class Queue<T> {
  readonly #items: T[] = [];
  #waiting: PromiseWithResolvers<void> | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  async next(): Promise<T> {
    while (this.#items.length === 0) {
      this.#waiting ??= Promise.withResolvers();
      await this.#waiting.promise;
    }
    return this.#items.shift()!;
  }

  get length(): number {
    return this.#items.length;
  }
}

/** One client's stream. */
export class AdsStream {
  readonly metadata: Metadata;
  /** Resolves when the client has closed the stream. */
  readonly closed: Promise<void>;
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #requests = new Queue<DiscoveryRequest>();

  constructor(call: ServerDuplexStream<Buffer, Buffer>) {
    this.#call = call;
    this.metadata = call.metadata;
    this.closed = new Promise((resolve) => {
      call.on("cancelled", () => resolve());
      call.on("end", () => resolve());
      call.on("error", () => resolve());
    });
    call.on("data", (bytes: Buffer) => this.#requests.push(fromBinary(DiscoveryRequestSchema, bytes)));
  }

  /** The next request. */
  next(): Promise<DiscoveryRequest> {
    return this.#requests.next();
  }

  get pending(): number {
    return this.#requests.length;
  }

  /** Sends a set of configurations. */
  send(version: string, nonce: string, configs: readonly ConfigInit[]): void {
    const resources = configs.map((config) =>
      anyPack(RateLimitConfigSchema, create(RateLimitConfigSchema, config)),
    );
    this.sendRaw({ versionInfo: version, nonce, typeUrl: TYPE_URL, resources });
  }

  sendRaw(response: ResponseInit): void {
    this.sendBytes(toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response)));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#call.write(Buffer.from(bytes));
  }

  end(): void {
    this.#call.end();
  }

  fail(details: string): void {
    this.#call.emit("error", { code: status.UNAVAILABLE, details });
  }
}

export interface ServerTlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Undefined: clients need no certificate. */
  readonly clientCa?: string;
}

/** A management server that a test controls. */
export class ManagementServer {
  readonly #server = new Server();
  readonly #streams = new Queue<AdsStream>();
  /** `localhost:port` */
  address = "";

  static async start(options: { port?: number; tls?: ServerTlsFiles } = {}): Promise<ManagementServer> {
    const server = new ManagementServer();
    await server.#listen(options.port ?? 0, options.tls);
    return server;
  }

  /** The next stream that a client opens. */
  stream(): Promise<AdsStream> {
    return this.#streams.next();
  }

  /** Closes all connections. */
  stop(): void {
    this.#server.forceShutdown();
  }

  async #listen(port: number, tls: ServerTlsFiles | undefined): Promise<void> {
    const identity = (bytes: Buffer): Buffer => bytes;
    this.#server.register<Buffer, Buffer>(
      METHOD,
      (call: ServerDuplexStream<Buffer, Buffer>) => this.#streams.push(new AdsStream(call)),
      identity,
      identity,
      "bidi",
    );
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(
            tls.clientCa === undefined ? null : readFileSync(tls.clientCa),
            [{ cert_chain: readFileSync(tls.cert), private_key: readFileSync(tls.key) }],
            tls.clientCa !== undefined,
          );
    const bound = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, credentials, (error, number) =>
        error === null ? resolve(number) : reject(error),
      );
    });
    this.address = `localhost:${bound}`;
  }
}
