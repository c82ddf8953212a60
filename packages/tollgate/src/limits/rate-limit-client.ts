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

/** PEM texts. */
export interface LimitsTls {
  /** The certificate authority of the service; default: the CAs of Node. */
  readonly ca?: string | Buffer;
  /** This caller's certificate, if the service requires one. */
  readonly cert?: string | Buffer;
  /** The private key of `cert`. */
  readonly key?: string | Buffer;
  /** The DNS name that the service's certificate must contain; default: the host of the address. */
  readonly serverName?: string;
}

/** A gRPC client with one lasting connection. The connection does not keep the process alive. */
export class RateLimitClient {
  readonly #address: string;
  readonly #timeout: number;
  readonly #client: Client;

  /** @param timeout milliseconds for each call */
  constructor(address: string, timeout: number, tls: LimitsTls | undefined) {
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

  /** @throws {Error} with the service's address and the reason, if the call fails */
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
