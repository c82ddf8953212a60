import { createServer, type Server, type Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { errorName } from "./frames/constants.ts";
import { ConnectionCalls } from "./grpc/connection-calls.ts";
import type { GrpcDependencies } from "./grpc/context.ts";
import { inPlace } from "./grpc/handler-results.ts";
import { PendingCalls } from "./grpc/pending-calls.ts";
import type { Route } from "./grpc/route.ts";
import { responseHeadersTemplate } from "./grpc/templates.ts";
import { ByteCount } from "./http2/byte-count.ts";
import { Connection } from "./http2/connection.ts";
import type { Http2Dependencies } from "./http2/options.ts";
import { bind } from "./listen/bind.ts";
import { contextOptions } from "./listen/secure-context.ts";
import { createTlsListener } from "./listen/tls-listener.ts";
import { resolveLimits, resolveTimes } from "./options.ts";
import type {
  BidiStreamingHandler,
  BoundAddress,
  DrainOptions,
  InPlaceUnaryHandler,
  ListenOptions,
  RefusedPeer,
  SecureContext,
  ServerCounts,
  ServerOptions,
  ServerStreamingHandler,
  TlsOptions,
  UnaryHandler,
} from "./types.ts";

/** The maximum delay of a timer. Node runs a timer with a longer delay immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const METHOD_PATH = /^\/[^/\s]+\/[^/\s]+$/;

/**
 * A gRPC server. Register methods, then call `listen`. `drain` stops gracefully, `close` stops immediately.
 * @example
 * ```ts
 * import { GrpcServer } from "@tollway/grpc-wire";
 *
 * const server = new GrpcServer({ limits: { maxRequestBytes: 64 * 1024 } })
 *   .unary("/demo.Greeter/Greet", (name) => Buffer.concat([Buffer.from("Hello, "), name]));
 * const bound = await server.listen({ host: "127.0.0.1", port: 0 });
 * console.log(bound);
 * await server.drain({ timeoutMs: 5000 });
 * ```
 */
export class GrpcServer {
  readonly #tls: TlsOptions | undefined;
  readonly #routes = new Map<string, Route>();
  readonly #http2: Http2Dependencies;
  readonly #grpc: GrpcDependencies;
  readonly #maxConnections: number;
  readonly #onHandlerError: ((error: unknown, path: string) => void) | undefined;
  readonly #onRefusedPeer: ((refused: RefusedPeer) => void) | undefined;
  readonly #onListenerError: ((error: Error) => void) | undefined;
  readonly #listeners = new Set<Server>();
  readonly #connections = new Set<Connection>();
  /** The TCP and unix sockets of TLS connections, including connections in their handshake. */
  readonly #tlsSockets = new Set<Socket>();
  #secureContext: SecureContext | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #isDraining = false;
  #accepted = 0;
  #refused = 0;
  #connectionErrors = 0;
  readonly #drainListeners: (() => void)[] = [];
  #whenEmpty: (() => void)[] = [];

  constructor(options: ServerOptions = {}) {
    this.#tls = options.tls;
    const subtypes = options.contentSubtypes ?? ["proto"];
    const contentTypes = ["application/grpc", ...subtypes.map((subtype) => `application/grpc+${subtype}`)];
    const { onHandlerError, onConnectionError } = options;
    this.#onHandlerError = safely(onHandlerError);
    this.#onRefusedPeer = safely(options.onRefusedPeer);
    this.#onListenerError = safely(options.onListenerError);
    const limits = resolveLimits(options.limits);
    this.#maxConnections = limits.maxConnections;
    const times = resolveTimes(options.connection);
    const reportConnection = safely(onConnectionError);
    this.#http2 = {
      limits,
      times,
      queued: new ByteCount(),
      onFault: (error) => this.#onHandlerError?.(error, ""),
      onConnectionError: (peer, code, message) => {
        this.#connectionErrors += 1;
        reportConnection?.({ peer, code: errorName(code), message });
      },
    };
    this.#grpc = {
      ...limits,
      requestTimeoutMs: times.requestTimeoutMs,
      routes: this.#routes,
      subtypes,
      contentTypes,
      responseHeaders: contentTypes.map(responseHeadersTemplate),
      responseCompression: options.responseCompression ?? "mirror",
      compressionThresholdBytes: options.compressionThresholdBytes ?? 1024,
      observer: options.observer,
      onHandlerError: this.#onHandlerError,
      onOversizedMessage: options.onOversizedMessage,
      pending: new PendingCalls(),
      buffered: new ByteCount(),
    };
  }

  /** Registers a unary method. `path` is `/package.Service/Method`. Throws if the path is already registered. */
  unary(path: string, handler: UnaryHandler): this {
    return this.#add({ path, kind: "unary", handler: inPlace(handler) });
  }

  /** Registers a unary method that reads its request and writes its response in place. It avoids copies. */
  unaryInPlace(path: string, handler: InPlaceUnaryHandler): this {
    return this.#add({ path, kind: "unary", handler });
  }

  /** Registers a method with one request message and any number of response messages. */
  serverStreaming(path: string, handler: ServerStreamingHandler): this {
    return this.#add({ path, kind: "serverStreaming", handler });
  }

  /** Registers a method with any number of request and response messages. For client streaming, yield one message. */
  bidiStreaming(path: string, handler: BidiStreamingHandler): this {
    return this.#add({ path, kind: "bidiStreaming", handler });
  }

  /** Returns the paths of the registered methods. */
  paths(): string[] {
    return [...this.#routes.keys()];
  }

  /**
   * Binds an address and accepts connections. Call it once for each address. Replaces the file of a unix socket if no process
   * listens on it. Rejects if the address cannot be bound, and after `drain` or `close`.
   */
  async listen(where: ListenOptions): Promise<BoundAddress> {
    if (this.#isDraining) throw closedError();
    const server = this.#createListener();
    // Added before the bind, so that `setSecureContext` changes this listener, too.
    this.#listeners.add(server);
    try {
      const bound = await bind(server, where);
      if (this.#isDraining) throw closedError();
      // Without a handler, an accept error (for example too many open files) would end the process.
      server.on("error", (error) => this.#onListenerError?.(error));
      return bound;
    } catch (error) {
      this.#listeners.delete(server);
      server.close();
      throw error;
    }
  }

  /** Serves an accepted connection. A TLS connection must have negotiated `h2`. */
  serve(socket: Socket): void {
    this.#accept(socket, "encrypted" in socket);
  }

  /**
   * Replaces the certificate, the key and the authorities for new connections. If they do not match, throws and keeps the
   * old ones.
   */
  setSecureContext(context: SecureContext): void {
    if (this.#tls === undefined) throw new Error("setSecureContext: this server has no tls option");
    const replaced = { ...this.#secureContext, ...context };
    const options = contextOptions(this.#tls, replaced);
    // Checks the context before the first listener changes, and also when there is no listener.
    process.getBuiltinModule("node:tls").createSecureContext(options);
    for (const listener of this.#listeners) (listener as TlsServer).setSecureContext(options);
    this.#secureContext = replaced;
  }

  /**
   * Stops listening, sends GOAWAY in two steps, and waits for the calls in flight. Resolves when all connections are closed.
   * Closes the remaining connections after `timeoutMs`.
   */
  async drain(options: DrainOptions = {}): Promise<void> {
    this.#isDraining = true;
    this.#stopListening();
    for (const connection of this.#connections) connection.startDrain();
    for (const listener of this.#drainListeners) this.#tell(listener);
    const cut = setTimeout(() => this.#cut(), Math.min(options.timeoutMs ?? 30_000, LONGEST_TIMER_MS));
    await this.#untilEmpty();
    clearTimeout(cut);
    // The remaining sockets are in their TLS handshake.
    this.#cut();
    this.#stopSweeping();
  }

  /** Stops listening, and closes all connections immediately. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#stopListening();
    this.#cut();
    await this.#untilEmpty();
    this.#stopSweeping();
  }

  /** Calls `listener` when a drain begins. Use it to end streams that would otherwise not end. */
  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  /** The number of connections whose peers may open streams: without those that drain. */
  get servingConnections(): number {
    let serving = 0;
    for (const connection of this.#connections) if (!connection.isDraining) serving++;
    return serving;
  }

  /**
   * Asks the peers of the newest connections to open new ones, perhaps to another listener on the same port: sends GOAWAY,
   * and closes each connection after its calls in flight, or after `maxConnectionAgeGraceMs`.
   * @returns the number of connections, at most `count`
   */
  releaseConnections(count: number): number {
    let released = 0;
    for (const connection of [...this.#connections].reverse()) {
      if (released >= count) break;
      if (connection.release()) released++;
    }
    return released;
  }

  /** Current values, and counts since the start. Cheap enough for each scrape of metrics. */
  counts(): ServerCounts {
    return {
      connections: this.#connections.size,
      activeCalls: this.#grpc.pending.count,
      connectionsAccepted: this.#accepted,
      connectionsRefused: this.#refused,
      connectionErrors: this.#connectionErrors,
      bufferedBytes: this.#grpc.buffered.bytes,
      queuedBytes: this.#http2.queued.bytes,
    };
  }

  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#onHandlerError?.(error, "");
    }
  }

  #add(route: Route): this {
    if (!METHOD_PATH.test(route.path))
      throw new TypeError(`method path ${JSON.stringify(route.path)}: use /package.Service/Method`);
    if (this.#routes.has(route.path)) throw new Error(`method path ${route.path} is already registered`);
    this.#routes.set(route.path, route);
    return this;
  }

  #createListener(): Server {
    if (this.#tls === undefined) return createServer((socket) => this.#accept(socket, false));
    return createTlsListener({
      tls: this.#tls,
      replaced: this.#secureContext,
      handshakeTimeoutMs: Math.min(
        this.#http2.times.handshakeTimeoutMs || LONGEST_TIMER_MS,
        LONGEST_TIMER_MS,
      ),
      onSocket: (socket) => this.#watchTlsSocket(socket),
      onSecureSocket: (socket) => this.#accept(socket, true),
      onFault: (error) => this.#onHandlerError?.(error, ""),
      onRefused: (refused) => this.#onRefusedPeer?.(refused),
    });
  }

  #watchTlsSocket(socket: Socket): void {
    if (this.#isFull()) {
      this.#refused += 1;
      socket.destroy();
      return;
    }
    this.#tlsSockets.add(socket);
    socket.once("close", () => this.#tlsSockets.delete(socket));
  }

  #isFull(): boolean {
    return Math.max(this.#connections.size, this.#tlsSockets.size) >= this.#maxConnections;
  }

  #accept(socket: Socket, isTls: boolean): void {
    if (this.#isDraining || !isOpen(socket) || (!isTls && this.#isFull())) {
      this.#refused += 1;
      socket.destroy();
      return;
    }
    this.#accepted += 1;
    this.#startSweeping();
    const connection = new Connection(this.#http2, {
      socket,
      isTls,
      events: new ConnectionCalls(this.#grpc),
      onClosed: (closed) => this.#onConnectionClosed(closed),
    });
    this.#connections.add(connection);
  }

  #onConnectionClosed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  #untilEmpty(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  #cut(): void {
    for (const connection of this.#connections) connection.destroy();
    for (const socket of this.#tlsSockets) socket.destroy();
  }

  #stopListening(): void {
    for (const listener of this.#listeners) listener.close();
    this.#listeners.clear();
  }

  /** Starts the timer that sweeps all connections, four times within the shortest time limit. */
  #startSweeping(): void {
    if (this.#sweeper !== undefined) return;
    const { maxPingStrikes, minPingIntervalMs, ...times } = this.#http2.times;
    const shortest = Math.min(...Object.values(times).filter((time) => time > 10));
    this.#sweeper = setInterval(
      () => {
        for (const connection of this.#connections) connection.sweep();
      },
      Math.min(Math.max(shortest / 4, 10), 1000),
    );
    this.#sweeper.unref();
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#grpc.pending.stop();
  }
}

/** Whether the socket will emit `end` and `close`. A connection waits for these events. */
function isOpen(socket: Socket): boolean {
  return !socket.destroyed && !socket.readableEnded && !socket.writableEnded;
}

/** Wraps a hook for errors. Drops the errors that the hook throws. */
function safely<A extends unknown[]>(
  hook: ((...args: A) => void) | undefined,
): ((...args: A) => void) | undefined {
  if (hook === undefined) return undefined;
  return (...args) => {
    try {
      hook(...args);
    } catch {
      // No other hook could receive this error.
    }
  };
}

function closedError(): Error {
  return new Error("listen: this server is closed");
}
