import type { Descriptor, RateLimitRequest } from "./messages.ts";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "./request-limits.ts";
import { type DescriptorPlaces, ENTRY_PLACES, RequestPlaces } from "./scan-request.ts";

const shared = new RequestPlaces();

/**
 * Decodes an `envoy.service.ratelimit.v3.RateLimitRequest` from `buffer[start..end)`. It allocates nothing for a field
 * that a later one replaces, so a message of many such fields costs no more than a valid one.
 * @throws {WireError} for bytes that are not such a message
 * @throws {OversizedRequestError} above `limits`
 */
export function decodeRequest(
  buffer: Uint8Array,
  start: number,
  end: number,
  limits: RequestLimits = DEFAULT_REQUEST_LIMITS,
): RateLimitRequest {
  shared.scan(buffer, start, end, limits);
  return requestOf(shared);
}

/** The texts and numbers of a scanned message. */
export function requestOf(places: RequestPlaces): RateLimitRequest {
  const descriptors: Descriptor[] = [];
  for (let index = 0; index < places.count; index++)
    descriptors.push(descriptorOf(places, places.descriptors[index]!));
  return { domain: domainOf(places), descriptors, hitsAddend: places.hitsAddend };
}

export function domainOf(places: RequestPlaces): string {
  return places.text(places.domainStart, places.domainEnd);
}

export function descriptorOf(places: RequestPlaces, descriptor: DescriptorPlaces): Descriptor {
  const { firstEntry, requestsPerUnit, unit, unitMultiplier, hitsAddend, isNegativeHits } = descriptor;
  const { entries } = places;
  return {
    entries: Array.from({ length: descriptor.entries }, (_, index) => {
      const at = (firstEntry + index) * ENTRY_PLACES;
      return {
        key: places.text(entries[at]!, entries[at + 1]!),
        value: places.text(entries[at + 2]!, entries[at + 3]!),
      };
    }),
    limit: descriptor.hasLimit ? { requestsPerUnit, unit, unitMultiplier } : undefined,
    hitsAddend,
    isNegativeHits,
  };
}
