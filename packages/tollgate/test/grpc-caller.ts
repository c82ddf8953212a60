import { fromBinary } from "@bufbuild/protobuf";
import { type ChannelOptions, Client, credentials, type Metadata, type ServiceError } from "@grpc/grpc-js";
import { encodeRequest } from "../src/protocol/encode-request.ts";
import {
  type RateLimitResponse,
  RateLimitResponseSchema,
} from "../src/protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { Descriptor, RateLimitRequest } from "../src/protocol/messages.ts";
import { SHOULD_RATE_LIMIT } from "../src/protocol/method.ts";

/** Long enough for any machine. */
const DEADLINE_MS = 120_000;

/** A client with an independent gRPC implementation, as in a gateway. */
export class GrpcCaller {
  readonly client: Client;

  constructor(address: string, channel = credentials.createInsecure(), options: ChannelOptions = {}) {
    this.client = new Client(address, channel, options);
  }

  ask(request: RateLimitRequest, deadlineMs = DEADLINE_MS): Promise<RateLimitResponse> {
    return this.askWithBytes(encodeRequest(request), deadlineMs);
  }

  askWithBytes(bytes: Uint8Array, deadlineMs = DEADLINE_MS, metadata?: Metadata): Promise<RateLimitResponse> {
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, response?: RateLimitResponse) =>
        error === null && response !== undefined ? resolve(response) : reject(error);
      const read = (message: Buffer) => fromBinary(RateLimitResponseSchema, message);
      const write = (message: Uint8Array) => Buffer.from(message);
      const options = { deadline: Date.now() + deadlineMs };
      if (metadata === undefined)
        this.client.makeUnaryRequest(SHOULD_RATE_LIMIT, write, read, bytes, options, done);
      else this.client.makeUnaryRequest(SHOULD_RATE_LIMIT, write, read, bytes, metadata, options, done);
    });
  }

  close(): void {
    this.client.close();
  }
}

/** A descriptor from `key=value,key2=value2`. */
export function descriptor(text: string, part: Partial<Descriptor> = {}): Descriptor {
  const entries = text.split(",").map((pair) => {
    const at = pair.indexOf("=");
    return { key: pair.slice(0, at), value: pair.slice(at + 1) };
  });
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false, ...part };
}

export function request(domain: string, ...descriptors: Descriptor[]): RateLimitRequest {
  return { domain, descriptors, hitsAddend: 0 };
}
