import { readFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { createLogger } from "../observe/log.ts";
import { startTracing } from "../observe/tracing/start-tracing.ts";
import { noTracing, type Tracing } from "../observe/tracing/tracing.ts";
import { encodeRequest } from "../protocol/encode-request.ts";
import {
  type RateLimitResponse,
  RateLimitResponseSchema,
} from "../protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import { Code } from "../protocol/messages.ts";
import { SHOULD_RATE_LIMIT } from "../protocol/method.ts";
import { tlsTarget } from "../protocol/tls-target.ts";
import type { Client, ServiceError } from "../vendor/grpc-js.ts";
import { type ClientOptions, parseClientOptions } from "./client-options.ts";
import { codeName, renderJson, renderText } from "./client-print.ts";
import { CLIENT } from "./descriptions.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { usageOf } from "./usage.ts";

type Grpc = typeof import("../vendor/grpc-js.ts");

/** The dependencies of a call. */
interface Dependencies {
  readonly grpc: Grpc;
  readonly client: Client;
  readonly tracing: Tracing;
}

/** Milliseconds to export the remaining spans at the end. */
const FLUSH_TIMEOUT_MS = 5000;

/** `tollgate client`: sends requests to a service and prints the responses. Resolves with the exit status. */
export async function runClient(argv: readonly string[], io: CommandIo): Promise<number> {
  let options: ClientOptions;
  try {
    options = parseClientOptions(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate client: ${error.message}\nSee tollgate client --help.\n`);
    return 2;
  }
  if (options.help) {
    io.stdout.write(usageOf(CLIENT));
    return 0;
  }
  const grpc = await import("../vendor/grpc-js.ts");
  let client: Client;
  try {
    client = open(grpc, options);
  } catch (error) {
    io.stderr.write(`tollgate client: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  const tracing = await clientTracing(options);
  try {
    return await sendRepeatedly({ grpc, client, tracing }, options, io);
  } finally {
    client.close();
    await tracing.close(FLUSH_TIMEOUT_MS);
  }
}

async function sendRepeatedly(deps: Dependencies, options: ClientOptions, io: CommandIo): Promise<number> {
  const tally = new Map<string, number>();
  let failed = 0;
  for (let call = 0; call < options.repeat; call++) {
    const start = performance.now();
    let outcome: string;
    try {
      const response = await send(deps, options);
      outcome = codeName(response.overallCode);
      const took = performance.now() - start;
      io.stdout.write(options.json ? renderJson(response) : renderText(response, options.descriptors, took));
    } catch (error) {
      failed++;
      outcome = describeFailure(error as ServiceError, options);
      io.stderr.write(`tollgate client: ${outcome}\n`);
      outcome = "failed";
    }
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
  }
  if (options.repeat > 1 && !options.json) {
    const counts = [...tally].map(([name, count]) => `${count} ${name}`).join(", ");
    io.stdout.write(`${options.repeat} calls: ${counts}\n`);
  }
  if (failed > 0) return 1;
  return options.check && tally.has(codeName(Code.OVER_LIMIT)) ? 3 : 0;
}

async function send(
  { grpc, client, tracing }: Dependencies,
  options: ClientOptions,
): Promise<RateLimitResponse> {
  const { domain, descriptors, timeout } = options;
  const span = tracing.startClientCall(SHOULD_RATE_LIMIT.slice(1), { "rpc.system": "grpc", domain });
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(span?.headers ?? {})) metadata.set(name, value);
  try {
    const response = await new Promise<RateLimitResponse>((resolve, reject) => {
      client.makeUnaryRequest(
        SHOULD_RATE_LIMIT,
        (request: Uint8Array) => Buffer.from(request),
        (bytes) => fromBinary(RateLimitResponseSchema, bytes),
        encodeRequest({ domain, descriptors, hitsAddend: 0 }),
        metadata,
        { deadline: Date.now() + timeout },
        (error, answer) => (error === null && answer !== undefined ? resolve(answer) : reject(error)),
      );
    });
    span?.end();
    return response;
  } catch (error) {
    span?.end((error as ServiceError).details);
    throw error;
  }
}

async function clientTracing({ otlpProtocol }: ClientOptions): Promise<Tracing> {
  if (otlpProtocol === undefined) return noTracing;
  return startTracing({
    protocol: otlpProtocol,
    serviceName: "RateLimitClient",
    serviceNamespace: "",
    serviceInstanceId: "",
    samplingRate: 1,
    log: createLogger(),
  });
}

function describeFailure(error: ServiceError, { dialString, tls }: ClientOptions): string {
  const details = (error.details || error.message).replace(/\.? Resolution note: $/, "");
  const transport = tls === undefined ? "without TLS" : "over TLS";
  const hint =
    error.code === 14 ? ` (connected ${transport}; check that the service listens on ${dialString})` : "";
  return `${error.code === undefined ? "" : `status ${error.code}: `}${details}${hint}`;
}

/** @throws {Error} if a file cannot be read or used, or the address is invalid */
function open(grpc: Grpc, { dialString, tls }: ClientOptions): Client {
  if (tls === undefined) return new grpc.Client(dialString, grpc.credentials.createInsecure());
  const { verify, channel } = tlsTarget(dialString, tls.serverName);
  const read = (file: string | undefined) => (file === undefined ? null : readFileSync(file));
  const pems = [read(tls.caFile), read(tls.keyFile), read(tls.certFile)] as const;
  return new grpc.Client(dialString, grpc.credentials.createSsl(...pems, verify), channel);
}
