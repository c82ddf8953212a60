import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type RateLimitRequest as Generated,
  RateLimitRequestSchema,
} from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { RateLimitRequest } from "./messages.ts";

/** Converts a request to the form of protobuf-es. Only clients encode requests, so it is written for clarity, not speed. */
export function generatedRequest(request: RateLimitRequest): Generated {
  const init = {
    domain: request.domain,
    hitsAddend: request.hitsAddend,
    descriptors: request.descriptors.map(({ entries, limit, hitsAddend, isNegativeHits }) => ({
      entries: entries.map((entry) => ({ ...entry })),
      ...(limit !== undefined && { limit: { ...limit } }),
      ...(hitsAddend !== undefined && { hitsAddend: BigInt(hitsAddend) }),
      isNegativeHits,
    })),
  };
  return create(RateLimitRequestSchema, init as MessageInitShape<typeof RateLimitRequestSchema>);
}

/** Encodes an `envoy.service.ratelimit.v3.RateLimitRequest` in protobuf's wire format. */
export function encodeRequest(request: RateLimitRequest): Uint8Array {
  return toBinary(RateLimitRequestSchema, generatedRequest(request));
}
