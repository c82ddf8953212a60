import { MAX_COUNT } from "../counters/store.ts";
import type { Descriptor, RateLimitRequest } from "../protocol/messages.ts";

/** The hits of a descriptor: its own number, or else the request's if above 0, or else 1. 0 reads without counting. */
export function hitsOf(descriptor: Descriptor, request: RateLimitRequest): number {
  const own = descriptor.hitsAddend;
  if (own !== undefined) return Math.min(own, MAX_COUNT);
  return request.hitsAddend > 0 ? request.hitsAddend : 1;
}
