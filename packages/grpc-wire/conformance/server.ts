/**
 * The server under test, a process of its own: `node server.ts FOLDER`. Prints its addresses as one line of JSON, and
 * ends when its standard input does. FOLDER holds `server.pem` and `server.key`, and takes the unix socket.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Call,
  GrpcError,
  GrpcServer,
  HealthService,
  ReflectionService,
  type ServerOptions,
  Status,
  type StreamingCall,
} from "../src/index.ts";
import { startHttp2Server } from "./http2-server.ts";
import { decodeNote, encodeNote, probeDescriptorSet } from "./schema.ts";

/** The output of the server. */
export interface Addresses {
  readonly cleartextPort: number;
  readonly tlsPort: number;
  readonly unixPath: string;
  /** Cleartext; compresses its responses with gzip for clients that accept it, also if the request was not compressed. */
  readonly zippingPort: number;
  /** Cleartext; the HTTP/2 layer alone. */
  readonly http2Port: number;
}

/** Calls that wait, by the text that names them. */
class Waits {
  readonly #arrived = new Map<string, PromiseWithResolvers<void>>();
  readonly #gone = new Map<string, PromiseWithResolvers<void>>();

  arrived(text: string): PromiseWithResolvers<void> {
    return this.#of(this.#arrived, text);
  }

  gone(text: string): PromiseWithResolvers<void> {
    return this.#of(this.#gone, text);
  }

  /** Resolves once the caller has left. */
  async hold(text: string, { signal }: Call): Promise<void> {
    this.arrived(text).resolve();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    this.gone(text).resolve();
  }

  #of(map: Map<string, PromiseWithResolvers<void>>, text: string): PromiseWithResolvers<void> {
    const known = map.get(text);
    if (known !== undefined) return known;
    const made = Promise.withResolvers<void>();
    map.set(text, made);
    return made;
  }
}

function mirrorMetadata(call: Call): void {
  for (const [name, value] of call.metadataEntries()) {
    if (!name.startsWith("x-probe-")) continue;
    const mirrored = name.endsWith("-bin") ? Buffer.from(value, "base64") : value;
    call.setInitialMetadata(name, mirrored);
    call.setTrailingMetadata(name.replace("x-probe-", "x-probe-end-"), mirrored);
  }
}

const waits = new Waits();
const health = new HealthService();

async function* count(message: Uint8Array, call: StreamingCall): AsyncGenerator<Uint8Array> {
  const { text, payload, count: total } = decodeNote(message);
  for (let index = 0; index < total; index++) yield encodeNote({ payload, count: index });
  if (text !== "") await waits.hold(text, call);
}

async function* sum(messages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let count = 0;
  let bytes = 0;
  for await (const message of messages) {
    count += 1;
    bytes += decodeNote(message).payload.length;
  }
  yield encodeNote({ count, text: String(bytes) });
}

function start(options: ServerOptions): GrpcServer {
  const server = new GrpcServer(options)
    .unary("/conformance.Probe/Echo", (message, call) => {
      mirrorMetadata(call);
      return message;
    })
    .unary("/conformance.Probe/Fail", (message) => {
      throw new GrpcError(Status.NOT_FOUND, decodeNote(message).text);
    })
    .unary("/conformance.Probe/Wait", async (message, call) => {
      await waits.hold(decodeNote(message).text, call);
      return message;
    })
    .unary("/conformance.Probe/Arrived", async (message) => {
      await waits.arrived(decodeNote(message).text).promise;
      return message;
    })
    .unary("/conformance.Probe/Gone", async (message) => {
      await waits.gone(decodeNote(message).text).promise;
      return message;
    })
    .unary("/conformance.Probe/SetHealth", (message) => {
      const { text, count: status } = decodeNote(message);
      health.set(text, status === 1 ? "SERVING" : "NOT_SERVING");
      return message;
    })
    .serverStreaming("/conformance.Probe/Count", count)
    .bidiStreaming("/conformance.Probe/Sum", sum)
    .bidiStreaming("/conformance.Probe/Talk", (messages) => messages);
  health.addTo(server);
  new ReflectionService(probeDescriptorSet).addTo(server);
  return server;
}

async function portOf(server: GrpcServer): Promise<number> {
  const bound = await server.listen({ port: 0 });
  if (bound.kind !== "tcp") throw new Error("no port was bound");
  return bound.port;
}

if (import.meta.main) {
  const folder = process.argv[2]!;
  const cleartext = start({});
  const unixPath = join(folder, "grpc.sock");
  await cleartext.listen({ path: unixPath });
  const tls = {
    cert: readFileSync(join(folder, "server.pem")),
    key: readFileSync(join(folder, "server.key")),
  };
  const addresses: Addresses = {
    cleartextPort: await portOf(cleartext),
    tlsPort: await portOf(start({ tls })),
    unixPath,
    zippingPort: await portOf(start({ responseCompression: "accepted" })),
    http2Port: (await startHttp2Server()).port,
  };
  console.log(JSON.stringify(addresses));
  process.stdin.resume().on("end", () => process.exit());
}
