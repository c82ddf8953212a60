/** The public types of grpc-wire: right use compiles, wrong use does not. */
import {
  type BoundAddress,
  type Call,
  type CallObserver,
  type ConnectionErrorReason,
  GrpcError,
  GrpcServer,
  HealthService,
  type HealthStatus,
  type ListenOptions,
  OptionError,
  ReflectionService,
  type ServerCounts,
  type ServerOptions,
  Status,
  type StatusCode,
  type StreamingCall,
  TLS_CIPHER_SUITES,
  type UnaryCall,
  type UnaryHandler,
} from "@tollway/grpc-wire";
import type { Holds, Same } from "../../../../tools/type-checks.ts";

export type Results = [
  Holds<Same<ReturnType<GrpcServer["listen"]>, Promise<BoundAddress>>>,
  Holds<Same<ReturnType<GrpcServer["unary"]>, GrpcServer>>,
  Holds<Same<ReturnType<GrpcServer["drain"]>, Promise<void>>>,
  Holds<Same<ReturnType<GrpcServer["counts"]>, ServerCounts>>,
  Holds<Same<GrpcError["code"], StatusCode>>,
  Holds<Same<OptionError["code"], "ERR_GRPC_WIRE_OPTION">>,
  Holds<Same<ReturnType<HealthService["get"]>, HealthStatus | undefined>>,
  Holds<Same<typeof Status.RESOURCE_EXHAUSTED, 8>>,
  Holds<Same<Extract<BoundAddress, { kind: "unix" }>["path"], string>>,
  Holds<Same<ConnectionErrorReason["code"], string>>,
];

const observer: CallObserver = { callFinished: (path, status) => [path.length, status < Status.UNKNOWN] };

export const options: ServerOptions = {
  tls: { cert: "", key: Buffer.alloc(0), ca: ["", Buffer.alloc(0)], minVersion: "TLSv1.3" },
  connection: { maxConnectionAgeMs: 60_000 },
  limits: { maxRequestBytes: 1024 },
  responseCompression: "mirror",
  observer,
  onHandlerError: (error, path) => void [error, path.length],
};

export async function rightUse(server: GrpcServer): Promise<void> {
  const echo: UnaryHandler = (message, call) => (call.cancelled ? new Uint8Array() : message);
  server
    .unary("/a.B/Echo", echo)
    .unary("/a.B/Later", async (message) => message)
    .unaryInPlace("/a.B/InPlace", (call) => call.finish(call.buffer.subarray(call.start, call.end)))
    .serverStreaming("/a.B/Count", async function* (message) {
      yield message;
    })
    .bidiStreaming("/a.B/Talk", async (messages, call) => {
      for await (const message of messages) await call.write(message);
    });
  const address = await server.listen({ port: 0 });
  if (address.kind === "tcp") address.port.toFixed();
  await server.listen({ path: "/run/service.sock" });
  new HealthService().addTo(server);
  new ReflectionService(new Uint8Array()).addTo(server);
  server.setSecureContext({ cert: "", key: "" });
  throw new GrpcError(Status.NOT_FOUND, TLS_CIPHER_SUITES);
}

export function wrongUse(server: GrpcServer, call: Call, unary: UnaryCall, streaming: StreamingCall): void {
  // @ts-expect-error: a unary handler returns bytes
  server.unary("/a.B/Echo", () => "text");
  // @ts-expect-error: a handler of a stream takes messages one by one
  server.bidiStreaming("/a.B/Talk", (messages: Uint8Array) => messages);
  // @ts-expect-error: an address is a port or a path
  void server.listen({ host: "localhost" });
  // @ts-expect-error: a flag is a boolean
  const where: ListenOptions = { port: 1, reusePort: "yes" };
  // @ts-expect-error: no status has this number
  new GrpcError(17, "beyond UNAUTHENTICATED");
  // @ts-expect-error: a status is a number
  new GrpcError("NOT_FOUND", "by name");
  // @ts-expect-error: there is no such option
  new GrpcServer({ limits: { maxRequestByte: 1 } });
  // @ts-expect-error: TLS needs a key
  new GrpcServer({ tls: { cert: "" } });
  // @ts-expect-error: compression is one of three
  new GrpcServer({ responseCompression: "gzip" });
  // @ts-expect-error: a call is not for writing
  call.cancelled = true;
  // @ts-expect-error: only a streaming call writes messages
  void unary.write(new Uint8Array());
  // @ts-expect-error: a streaming call does not finish with a message
  streaming.finish(new Uint8Array());
  // @ts-expect-error: health has three statuses
  new HealthService().set("", "UP");
  void [where, new OptionError("")];
}
