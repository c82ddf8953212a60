import { GrpcServer, type ServerOptions } from "../../src/index.ts";
import { RawClient } from "./raw-client.ts";

/** A server on a free port with the methods that the tests call; closed with `await using`. */
export class TestServer implements AsyncDisposable {
  readonly grpc: GrpcServer;
  port = 0;
  /** Signals of the calls of `/test.Echo/Never`, which are never answered. */
  readonly held: AbortSignal[] = [];

  private constructor(options: ServerOptions) {
    this.grpc = new GrpcServer(options)
      .unaryInPlace("/test.Echo/InPlace", (call) => {
        const length = call.end - call.start;
        const out = call.reserve(length);
        out.set(call.buffer.subarray(call.start, call.end), call.offset);
        call.commit(length);
      })
      .unary("/test.Echo/Simple", (message) => message)
      .unary("/test.Echo/Later", async (message) => {
        await new Promise((resolve) => setImmediate(resolve));
        return message;
      })
      .unary("/test.Echo/Never", (_message, call) => {
        this.held.push(call.signal);
        return new Promise((_resolve, reject) =>
          call.signal.addEventListener("abort", () => reject(new Error("gone"))),
        );
      })
      .unary("/test.Echo/Large", (message) => new Uint8Array(Buffer.from(message).readUInt32BE()).fill(7))
      .unary("/test.Echo/Length", (message) => Buffer.from(String(message.length)))
      .serverStreaming("/test.Echo/Repeat", async function* (message) {
        const count = Buffer.from(message).readUInt32BE();
        for (let index = 0; index < count; index++) yield message.subarray(4);
      })
      .bidiStreaming("/test.Echo/Each", async function* (messages) {
        for await (const message of messages) yield message;
      });
  }

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options);
    const bound = await server.grpc.listen({ port: 0 });
    if (bound.kind === "tcp") server.port = bound.port;
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.grpc.close();
  }
}

/** A server with these methods, and a client to it. */
export async function serve(register: (server: GrpcServer) => void, options: ServerOptions = {}) {
  const server = new GrpcServer(options);
  register(server);
  const bound = await server.listen({ port: 0 });
  const client = await RawClient.open({ port: bound.kind === "tcp" ? bound.port : 0 });
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.close();
    },
  };
}
