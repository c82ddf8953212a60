import type { JsonLimits } from "@tollway/waymark";
import { Code, type RateLimitResponse } from "./messages.ts";

/** Limits on the parts of a request. The decoders check them before they allocate anything for a part. */
export interface RequestLimits {
  /** `MAX_DESCRIPTORS` */
  readonly descriptors: number;
  /** `MAX_ENTRIES_PER_DESCRIPTOR` */
  readonly entries: number;
}

export const DEFAULT_REQUEST_LIMITS: RequestLimits = { descriptors: 100, entries: 32 };

/** A request above a limit: too many bytes, descriptors or entries. */
export class OversizedRequestError extends Error {
  override readonly name = "OversizedRequestError";
  readonly code = "OVERSIZED_REQUEST";
}

export function tooManyDescriptors({ descriptors }: RequestLimits): OversizedRequestError {
  return new OversizedRequestError(`the request has more than ${descriptors} descriptors (MAX_DESCRIPTORS)`);
}

export function tooManyEntries({ entries }: RequestLimits, descriptor: number): OversizedRequestError {
  return new OversizedRequestError(
    `descriptor ${descriptor} has more than ${entries} entries (MAX_ENTRIES_PER_DESCRIPTOR)`,
  );
}

/** The response to a request above a limit under `OVERSIZED_REQUEST=deny`. The descriptors are not known. */
export const deniedResponse: RateLimitResponse = Object.freeze({
  overallCode: Code.OVER_LIMIT,
  statuses: [],
  responseHeadersToAdd: [],
  dynamicMetadata: undefined,
});

/** Members of one object: each field of a descriptor under both of its names, and one unknown field, so that the error can name it. */
const MOST_MEMBERS = 16;

/** Limits on JSON that a request within the limits cannot exceed; for the fields of `protocol/json-request.ts`. */
export function jsonLimitsOf({ descriptors, entries }: RequestLimits): JsonLimits {
  return {
    objectMembers: MOST_MEMBERS,
    members: 3 + descriptors * (6 + 2 * entries),
    containers: 2 + descriptors * (3 + entries),
  };
}
