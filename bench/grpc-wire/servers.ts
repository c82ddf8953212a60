/**
 * The compared servers: the same unary method with an empty request and an empty response on each library. As a process,
 * `node servers.ts <name> [cert key]` sends its port over IPC.
 */
import { readFileSync } from "node:fs";
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";

/** A certificate and its key in PEM, or undefined for cleartext. */
interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Starts a server on a free port of the loopback interface and resolves with the port. */
type Start = (tls: Pair | undefined) => Promise<number>;

export const METHOD = "/bench.Bench/Empty";

async function listening(server: Http2Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function grpcWire(tls: Pair | undefined): Promise<number> {
  const { GrpcServer } = await import("../../packages/grpc-wire/src/index.ts");
  const server = new GrpcServer({
    ...(tls === undefined ? {} : { tls }),
  }).unaryInPlace(METHOD, (call) => {
    call.reserve(0);
    call.commit(0);
  });
  const bound = await server.listen({ port: 0 });
  return bound.kind === "tcp" ? bound.port : 0;
}

async function grpcJs(tls: Pair | undefined): Promise<number> {
  const { Server, ServerCredentials } = (await import("@grpc/grpc-js")).default;
  const server = new Server();
  const bytes = (value: Buffer) => value;
  const empty = {
    path: METHOD,
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  } as const;
  const nothing = Buffer.alloc(0);
  server.addService(
    { empty },
    { empty: (_call: unknown, answer: (error: null, value: Buffer) => void) => answer(null, nothing) },
  );
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error ? reject(error) : resolve(port))),
  );
}

function nodeHttp2(tls: Pair | undefined): Promise<number> {
  const answer = Buffer.alloc(5);
  const onStream = (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(answer);
    });
  };
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on("stream", onStream);
  return listening(server as Http2Server);
}

async function connectNode(tls: Pair | undefined): Promise<number> {
  const { connectNodeAdapter } = await import("@connectrpc/connect-node");
  const { fileDesc, serviceDesc } = await import("@bufbuild/protobuf/codegenv2");
  const { create, toBinary } = await import("@bufbuild/protobuf");
  const { FileDescriptorProtoSchema } = await import("@bufbuild/protobuf/wkt");
  const proto = create(FileDescriptorProtoSchema, {
    name: "bench.proto",
    package: "bench",
    syntax: "proto3",
    messageType: [{ name: "Nothing" }],
    service: [
      {
        name: "Bench",
        method: [{ name: "Empty", inputType: ".bench.Nothing", outputType: ".bench.Nothing" }],
      },
    ],
  });
  const file: GenFile = fileDesc(Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString("base64"));
  type Nothing = GenMessage<{ $typeName: "bench.Nothing" }>;
  const service: GenService<{ empty: { methodKind: "unary"; input: Nothing; output: Nothing } }> =
    serviceDesc(file, 0);
  const handler = connectNodeAdapter({
    routes: (router) => void router.service(service, { empty: () => ({}) }),
  });
  const server = tls === undefined ? createServer(handler) : createSecureServer(tls, handler);
  return listening(server as Http2Server);
}

export const servers: Record<string, Start> = {
  "grpc-wire": grpcWire,
  "node:http2": nodeHttp2,
  "@grpc/grpc-js": grpcJs,
  "@connectrpc/connect-node": connectNode,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, cert, key] = process.argv;
  const tls = cert && key ? { cert: readFileSync(cert), key: readFileSync(key) } : undefined;
  const port = await servers[name!]!(tls);
  process.on("message", (question: "cpu" | "memory") => {
    if (question === "memory") globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    process.send!({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
  });
  process.on("disconnect", () => process.exit());
  process.send!({ port });
}
