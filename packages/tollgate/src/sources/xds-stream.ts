import { readFile } from "node:fs/promises";
import { tlsTarget } from "../protocol/tls-target.ts";
import type { ChannelCredentials, Client, ClientDuplexStream, ServiceError } from "../vendor/grpc-js.ts";

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** The default of gRPC. */
const DEFAULT_MAX_MESSAGE_SIZE = 4 * 1024 * 1024;

/**
 * Interval of keepalive pings in milliseconds. Without pings, the client would not detect a lost server on an idle
 * stream. grpc-go servers close connections with more than one ping per five minutes.
 */
const KEEPALIVE_MS = 310_000;

export interface XdsConnectionOptions {
  /** `host:port`, or another target in gRPC's syntax. */
  readonly serverUrl: string;
  /** Timeout of a connection attempt in milliseconds. */
  readonly connectTimeout: number;
  readonly additionalHeaders: readonly (readonly [name: string, value: { reveal(): string }])[];
  /** Undefined: no TLS. The PEM files are read for each attempt. */
  readonly tls: XdsTlsFiles | undefined;
  /** Bytes; 0 for 4 MiB. */
  readonly maxMessageSize: number;
}

export interface XdsTlsFiles {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly caCert: string | undefined;
  /** DNS name that the server's certificate must contain. Undefined: the host of the address. */
  readonly san: string | undefined;
}

export interface XdsStreamEvents {
  onMessage(bytes: Buffer): void;
  /** Called once, as the last event. */
  onEnd(reason: string): void;
}

/** One ADS stream with its own connection. */
export interface XdsStream {
  send(bytes: Uint8Array): void;
  /** Ends the stream without an event. */
  cancel(): void;
}

/**
 * Connects and opens the stream. Events report failures.
 * @throws {Error} if TLS files cannot be read or used
 */
export async function openXdsStream(
  options: XdsConnectionOptions,
  events: XdsStreamEvents,
): Promise<XdsStream> {
  // Loaded on demand, to save startup time and memory without a management server.
  const grpc = await import("../vendor/grpc-js.ts");
  const { verify, channel } = tlsTarget(options.serverUrl, options.tls?.san);
  const credentials =
    options.tls === undefined
      ? grpc.credentials.createInsecure()
      : await tlsCredentials((...pems) => grpc.credentials.createSsl(...pems, verify), options.tls);
  const metadata = new grpc.Metadata();
  for (const [name, value] of options.additionalHeaders) metadata.set(name, value.reveal());
  const client = new grpc.Client(options.serverUrl, credentials, {
    "grpc.max_receive_message_length": options.maxMessageSize || DEFAULT_MAX_MESSAGE_SIZE,
    // XdsSource controls the retries, and each attempt uses a new connection.
    "grpc.enable_retries": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": 20_000,
    ...(options.tls !== undefined && channel),
  });
  const call = client.makeBidiStreamRequest(METHOD, Buffer.from, (bytes: Buffer) => bytes, metadata);
  return new GrpcStream(client, call, grpc.connectivityState.READY, options.connectTimeout, events);
}

async function tlsCredentials(
  createSsl: (root: Buffer | null, key: Buffer | null, cert: Buffer | null) => ChannelCredentials,
  { cert, key, caCert }: XdsTlsFiles,
): Promise<ChannelCredentials> {
  const read = (path: string | undefined) => (path === undefined ? null : readFile(path));
  return createSsl(...(await Promise.all([read(caCert), read(key), read(cert)])));
}

class GrpcStream implements XdsStream {
  readonly #client: Client;
  readonly #call: ClientDuplexStream<Uint8Array, Buffer>;
  readonly #events: XdsStreamEvents;
  readonly #connecting: NodeJS.Timeout;
  #ended = false;

  constructor(
    client: Client,
    call: ClientDuplexStream<Uint8Array, Buffer>,
    ready: number,
    connectTimeout: number,
    events: XdsStreamEvents,
  ) {
    this.#client = client;
    this.#call = call;
    this.#events = events;
    call.on("data", (bytes: Buffer) => {
      if (!this.#ended) events.onMessage(bytes);
    });
    // Every call emits "error" or "end". The first event gives the reason.
    call.on("error", (error: ServiceError) =>
      this.#end((error.details || error.message).replace(/\. Resolution note: $/, "")),
    );
    call.on("end", () => this.#end("the server closed the stream"));
    this.#connecting = setTimeout(() => {
      if (client.getChannel().getConnectivityState(false) !== ready)
        this.#end(`not connected within ${connectTimeout} ms`);
    }, connectTimeout);
  }

  send(bytes: Uint8Array): void {
    if (!this.#ended) this.#call.write(bytes);
  }

  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#connecting);
    this.#call.cancel();
    this.#client.close();
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.cancel();
    this.#events.onEnd(reason);
  }
}
