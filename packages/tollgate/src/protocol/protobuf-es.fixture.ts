import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type RateLimitRequest as Generated,
  RateLimitRequestSchema,
} from "./gen/envoy/service/ratelimit/v3/rls_pb.ts";
import type { RateLimitRequest } from "./messages.ts";

/** A request as protobuf-es has it: the oracle of the hand-written codec's tests. */
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
