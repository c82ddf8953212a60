import type { RateLimitRequest, RateLimitResponse } from "../protocol/messages.ts";

/** Asks a rate limit service for decisions. */
export interface RateLimitClient {
  /** @throws {Error} with the service's address and the reason, if the call fails */
  shouldRateLimit(request: RateLimitRequest): Promise<RateLimitResponse>;
  /** Closes the connection. Calls in flight fail. */
  close(): void;
}

export interface ClientOptions {
  /** Undefined: the default of the runtime. */
  readonly address: string | undefined;
  /** Milliseconds for each call. */
  readonly timeout: number;
  readonly tls: LimitsTls | undefined;
}

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
