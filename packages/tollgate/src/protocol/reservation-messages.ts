/** The messages of `kuadrant.service.ratelimit.v1.RateLimitService` that Envoy's protocol does not have. */
import type { Code, Descriptor } from "./messages.ts";
import type { IdWords } from "./reservation-id.ts";

/** The target of a call: the container of the rules, and the descriptors. */
export interface ReservationTarget {
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
}

/** The other fields of a `ReserveRequest` or a `CommitRequest`. */
export interface ReserveFields {
  /** 0 if it is absent. Above 2^53 - 1 it is rounded. */
  readonly amount: number;
  /** Milliseconds; NaN if it is not a valid duration, undefined if it is absent. */
  readonly ttl: number | undefined;
}

export interface CommitFields {
  /** A text if it is not one of ours; empty for none. */
  readonly id: IdWords | string;
  /** Above 2^53 - 1 it is rounded. */
  readonly actual: number;
}

export interface ReserveResponse {
  readonly code: Code;
  /** Undefined for none. */
  readonly id: IdWords | undefined;
  readonly reserved: number;
}

export interface CommitResponse {
  readonly released: boolean;
}
