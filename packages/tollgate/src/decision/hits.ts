import { MAX_COUNT } from "../counters/store.ts";
import type { Descriptor, RateLimitRequest } from "../protocol/messages.ts";

/** How many hits a descriptor stands for: its own number, else the request's when above 0, else 1. 0 only looks. */
export function hitsOf(descriptor: Descriptor, request: RateLimitRequest): number {
  const own = descriptor.hitsAddend;
  if (own !== undefined) return Math.min(own, MAX_COUNT);
  return request.hitsAddend > 0 ? request.hitsAddend : 1;
}
