import { fromBinary } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, credentials, type ServiceError } from "@grpc/grpc-js";
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

/** PEM texts. */
export interface LimitsTls {
  /** The service's certificate authority; default: the run time's. */
  readonly ca?: string | Buffer;
  /** This caller's certificate and key, where the service asks for them. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name that the service's certificate must carry; default: the address's host. */
  readonly serverName?: string;
}

/** Asks a service over gRPC: one connection, kept. It does not keep a process alive that is otherwise done. */
export class RateLimitClient {
  readonly #address: string;
  readonly #timeout: number;
  readonly #client: Client;

  /** @param timeout milliseconds for each question */
  constructor(address: string, timeout: number, tls: LimitsTls | undefined) {
    this.#address = address;
    this.#timeout = timeout;
    const { verify, channel } = tlsTarget(address, tls?.serverName);
    this.#client = new Client(address, credentialsOf(tls, verify), {
      // A service that comes back is found within a second, not after grpc-js's two minutes.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1000,
      ...(tls !== undefined && channel),
    });
  }

  /** @throws {Error} that says which service could not be asked, or did not decide, and why */
  ask(request: RateLimitRequest): Promise<RateLimitResponse> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        SHOULD_RATE_LIMIT,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes) => fromBinary(RateLimitResponseSchema, bytes),
        encodeRequest(request),
        { deadline: Date.now() + this.#timeout },
        (error, answer) =>
          error === null && answer !== undefined ? resolve(plain(answer)) : reject(this.#failure(error)),
      );
    });
  }

  close(): void {
    this.#client.close();
  }

  #failure(error: ServiceError | null): Error {
    const details = (error?.details ?? "there was no answer").replace(/\.? Resolution note: $/, "");
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
        },
        limitRemaining,
        durationUntilReset: Number(durationUntilReset?.seconds ?? 0n),
      }),
    ),
    responseHeadersToAdd: response.responseHeadersToAdd.map(({ key, value }) => ({ key, value })),
    dynamicMetadata: undefined,
  };
}
