import type {
  BidiStreamingHandler,
  BoundAddress,
  DrainOptions,
  InPlaceUnaryHandler,
  ListenOptions,
  SecureContext,
  ServerCounts,
  ServerOptions,
  ServerStreamingHandler,
  UnaryHandler,
} from "./types.ts";

/** A gRPC server over HTTP/2. Register methods, then `listen`; `drain` to stop gracefully, `close` to stop now. */
export class GrpcServer {
  constructor(options: ServerOptions = {}) {
    void options;
  }
  /** A unary method in its simple form. `path` is `/package.Service/Method`; registering a path twice throws. */
  unary(path: string, handler: UnaryHandler): this {
    throw new Error(`not built yet: ${path} ${handler.name}`);
  }
  /** A unary method that reads its request and writes its answer in place: the fast form. */
  unaryInPlace(path: string, handler: InPlaceUnaryHandler): this {
    throw new Error(`not built yet: ${path} ${handler.name}`);
  }
  serverStreaming(path: string, handler: ServerStreamingHandler): this {
    throw new Error(`not built yet: ${path} ${handler.name}`);
  }
  bidiStreaming(path: string, handler: BidiStreamingHandler): this {
    throw new Error(`not built yet: ${path} ${handler.name}`);
  }
  /** Binds and starts to accept. May be called more than once, for several addresses. */
  listen(where: ListenOptions): Promise<BoundAddress> {
    return Promise.reject(new Error(`not built yet: ${JSON.stringify(where)}`));
  }
  /** Replaces certificate, key and authorities for connections to come. Throws, and keeps the old, where they do not fit. */
  setSecureContext(context: SecureContext): void {
    throw new Error(`not built yet: ${Object.keys(context)}`);
  }
  /** Stops listening, sends GOAWAY in two steps, lets calls in flight finish; resolves when all connections are closed. */
  drain(options: DrainOptions = {}): Promise<void> {
    return Promise.reject(new Error(`not built yet: ${options.timeoutMs}`));
  }
  /** Stops listening and cuts every connection. */
  close(): Promise<void> {
    return Promise.reject(new Error("not built yet"));
  }
  counts(): ServerCounts {
    throw new Error("not built yet");
  }
}
