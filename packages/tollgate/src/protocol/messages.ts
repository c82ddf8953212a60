/**
 * The messages of one decision, as plain data. Field names follow the proto3 JSON mapping. `packages/tollgate/proto/`
 * has the field numbers. Source: `envoy/service/ratelimit/v3/rls.proto`.
 */

/** `RateLimitResponse.Code`. */
export const Code = { UNKNOWN: 0, OK: 1, OVER_LIMIT: 2 } as const;
export type Code = (typeof Code)[keyof typeof Code];

/** `RateLimitResponse.RateLimit.Unit`, `RateLimitUnit` and the xDS resource's unit: the same numbers in all three. */
export const Unit = {
  /** No unit: the rule is unlimited. */
  UNKNOWN: 0,
  /** One second. */
  SECOND: 1,
  /** 60 seconds. */
  MINUTE: 2,
  /** 3,600 seconds. */
  HOUR: 3,
  /** 86,400 seconds. */
  DAY: 4,
  /** 30 days, or a calendar month. */
  MONTH: 5,
  /** 365 days, or a calendar year. */
  YEAR: 6,
  /** Seven days. */
  WEEK: 7,
} as const;
export type Unit = (typeof Unit)[keyof typeof Unit];

/** One key-value pair of a descriptor. Either may be empty. */
export interface Entry {
  /** The key. */
  readonly key: string;
  /** The value. May be empty. */
  readonly value: string;
}

/** A caller's own limit (`RateLimitDescriptor.RateLimitOverride`). */
export interface LimitOverride {
  /** uint32 */
  readonly requestsPerUnit: number;
  /** The number from the wire. The decision refuses 0 and unknown units. */
  readonly unit: number;
  /** uint32. The window is this many units long. Undefined: 1. The decision refuses 0. */
  readonly unitMultiplier?: number | undefined;
}

/** `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor`. */
export interface Descriptor {
  readonly entries: readonly Entry[];
  readonly limit: LimitOverride | undefined;
  /** uint64, capped at 2^53 - 1. Undefined if the field is absent; 0 reads without counting. */
  readonly hitsAddend: number | undefined;
  readonly isNegativeHits: boolean;
}

export interface RateLimitRequest {
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** uint32; 0 if absent. */
  readonly hitsAddend: number;
}

/** `RateLimitResponse.RateLimit`. */
export interface CurrentLimit {
  readonly requestsPerUnit: number;
  readonly unit: Unit;
  /** Empty if the rule has no name. */
  readonly name: string;
  /** The window is this many units long. Undefined: 1. */
  readonly unitMultiplier?: number | undefined;
}

/** `RateLimitResponse.DescriptorStatus`. */
export interface DescriptorStatus {
  readonly code: Code;
  readonly currentLimit: CurrentLimit | undefined;
  /** uint32 */
  readonly limitRemaining: number;
  /** Whole seconds, from 1 to the window's size; 0 if there is no reset. */
  readonly durationUntilReset: number;
}

export interface HeaderValue {
  readonly key: string;
  readonly value: string;
}

/** A value in a `google.protobuf.Struct`. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

export interface RateLimitResponse {
  readonly overallCode: Code;
  readonly statuses: readonly DescriptorStatus[];
  readonly responseHeadersToAdd: readonly HeaderValue[];
  readonly dynamicMetadata: JsonObject | undefined;
}
