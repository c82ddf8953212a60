import { once } from "node:events";
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials } from "@grpc/grpc-js";

/** One span received over OTLP. Identifiers are in hex. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 unset, 2 error */
  readonly status: { readonly code: number; readonly message: string };
  readonly durationNanos: bigint;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A field number and its value: bytes, or the number of a varint or a fixed 64. */
type Field = readonly [number: number, value: Uint8Array | bigint];

function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) fields.push([number, reader.bytes()]);
    else if (wire === WireType.Varint) fields.push([number, BigInt(reader.int64())]);
    else if (wire === WireType.Bit64) fields.push([number, BigInt(reader.fixed64())]);
    else reader.skip(wire, number);
  }
  return fields;
}

function all(fields: readonly Field[], number: number): Uint8Array[] {
  return fields.filter(([each]) => each === number).map(([, value]) => value as Uint8Array);
}

function text(fields: readonly Field[], number: number): string {
  return Buffer.from(all(fields, number)[0] ?? []).toString();
}

function hex(fields: readonly Field[], number: number): string {
  return Buffer.from(all(fields, number)[0] ?? []).toString("hex");
}

function whole(fields: readonly Field[], number: number): bigint {
  return (fields.find(([each]) => each === number)?.[1] as bigint | undefined) ?? 0n;
}

/** `KeyValue`s of `opentelemetry.proto.common.v1`: strings, booleans, integers. */
function attributes(list: readonly Uint8Array[]): Record<string, unknown> {
  return Object.fromEntries(
    list.map((bytes) => {
      const fields = fieldsOf(bytes);
      const [kind, value] = fieldsOf(all(fields, 2)[0]!)[0]!;
      const decoded =
        kind === 1 ? Buffer.from(value as Uint8Array).toString() : kind === 2 ? value === 1n : Number(value);
      return [text(fields, 1), decoded];
    }),
  );
}

/** An `ExportTraceServiceRequest` of `opentelemetry.proto.collector.trace.v1`. */
export function decodeExport(bytes: Uint8Array): CollectedSpan[] {
  return all(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const fields = fieldsOf(resourceSpans);
    const resource = attributes(all(fieldsOf(all(fields, 1)[0]!), 1));
    return all(fields, 2)
      .flatMap((scope) => all(fieldsOf(scope), 2))
      .map((span) => decodeSpan(span, resource));
  });
}

function decodeSpan(bytes: Uint8Array, resource: Readonly<Record<string, unknown>>): CollectedSpan {
  const fields = fieldsOf(bytes);
  const status = fieldsOf(all(fields, 15)[0] ?? new Uint8Array());
  return {
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    parentSpanId: hex(fields, 4),
    name: text(fields, 5),
    kind: Number(whole(fields, 6)),
    durationNanos: whole(fields, 8) - whole(fields, 7),
    attributes: attributes(all(fields, 9)),
    links: all(fields, 13).map((link) => ({
      traceId: hex(fieldsOf(link), 1),
      spanId: hex(fieldsOf(link), 2),
    })),
    status: { code: Number(whole(status, 3)), message: text(status, 2) },
    resource,
  };
}

/** A collector for tests. */
export interface Collector {
  readonly spans: CollectedSpan[];
  /** Headers or metadata of each export. */
  readonly headers: Readonly<Record<string, unknown>>[];
  readonly url: string;
  close(): Promise<void>;
}

/** OTLP over http/protobuf, at `/v1/traces`. */
export async function httpCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: Readonly<Record<string, unknown>>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (request.url !== "/v1/traces" || request.headers["content-type"] !== "application/x-protobuf") {
      response.writeHead(404).end();
      return;
    }
    headers.push(request.headers);
    spans.push(...decodeExport(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
    response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    spans,
    headers,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** OTLP over gRPC. */
export async function grpcCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: Readonly<Record<string, unknown>>[] = [];
  const server = new Server();
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  server.addService(
    {
      export: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: (bytes: Buffer) => bytes,
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
      },
    },
    {
      export: (
        call: { request: Buffer; metadata: { getMap(): Record<string, unknown> } },
        callback: (error: null, reply: Buffer) => void,
      ) => {
        headers.push(call.metadata.getMap());
        spans.push(...decodeExport(call.request));
        callback(null, Buffer.alloc(0));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    spans,
    headers,
    url: `http://127.0.0.1:${port}`,
    close: async () => server.forceShutdown(),
  };
}
