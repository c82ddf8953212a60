import { fromBinary } from "@bufbuild/protobuf";
import { encodeRequest } from "../protocol/encode-request.ts";
import {
  type RateLimitResponse as Generated,
  RateLimitResponseSchema,
} from "../protocol/gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type {
  CurrentLimit,
  DescriptorStatus,
  RateLimitRequest,
  RateLimitResponse,
} from "../protocol/messages.ts";
import { SHOULD_RATE_LIMIT } from "../protocol/method.ts";
import { type TlsTarget, tlsTarget } from "../protocol/tls-target.ts";
import { type ChannelCredentials, Client, credentials, type ServiceError } from "../vendor/grpc-js.ts";
import type { ClientOptions, LimitsTls, RateLimitClient } from "./rate-limit-client.ts";

/** A gRPC client with one lasting connection. The connection does not keep the process alive. */
export class GrpcClient implements RateLimitClient {
  readonly #address: string;
  readonly #timeout: number;
  readonly #client: Client;

  constructor({ address = "localhost:8081", timeout, tls }: ClientOptions) {
    this.#address = address;
    this.#timeout = timeout;
    const { verify, channel } = tlsTarget(address, tls?.serverName);
    this.#client = new Client(address, credentialsOf(tls, verify), {
      // Reconnects to a restarted service within a second. The default of grpc-js is up to two minutes.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1000,
      ...(tls !== undefined && channel),
    });
  }

  shouldRateLimit(request: RateLimitRequest): Promise<RateLimitResponse> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        SHOULD_RATE_LIMIT,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes) => fromBinary(RateLimitResponseSchema, bytes),
        encodeRequest(request),
        { deadline: Date.now() + this.#timeout },
        (error, response) =>
          error === null && response !== undefined ? resolve(plain(response)) : reject(this.#failure(error)),
      );
    });
  }

  close(): void {
    this.#client.close();
  }

  #failure(error: ServiceError | null): Error {
    const details = (error?.details ?? "no response").replace(/\.? Resolution note: $/, "");
    return new Error(`Tollgate at ${this.#address}: ${details}`, { cause: error });
  }
}

function credentialsOf(tls: LimitsTls | undefined, verify: TlsTarget["verify"]): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const bytes = (pem: string | Buffer | undefined) => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.cert), verify);
}

function plain(response: Generated): RateLimitResponse {
  return {
    overallCode: response.overallCode as RateLimitResponse["overallCode"],
    statuses: response.statuses.map(
      ({ code, currentLimit, limitRemaining, durationUntilReset }): DescriptorStatus => ({
        code: code as DescriptorStatus["code"],
        currentLimit: currentLimit && {
          requestsPerUnit: currentLimit.requestsPerUnit,
          unit: currentLimit.unit as CurrentLimit["unit"],
          name: currentLimit.name,
          unitMultiplier: currentLimit.unitMultiplier,
        },
        limitRemaining,
        durationUntilReset: Number(durationUntilReset?.seconds ?? 0n),
      }),
    ),
    responseHeadersToAdd: response.responseHeadersToAdd.map(({ key, value }) => ({ key, value })),
    dynamicMetadata: undefined,
  };
}
