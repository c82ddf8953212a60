/** The objects of one decision of a request that has a rule with `limits`. */
import type { AcquireGroup, AcquireLimit, AcquireRequest, Count, CountRequest } from "../counters/store.ts";
import type { DescriptorStatus, RateLimitResponse } from "../protocol/messages.ts";
import type { Mutable } from "./prepared.ts";
import type { ResolvedLimit } from "./resolve-limits.ts";

export interface LimitsScratch {
  /** One for each part that the store decides, in order. */
  readonly groups: readonly ScratchGroup[];
  readonly request: Mutable<AcquireRequest>;
  /** The same request as plain counts; undefined if a limit needs `acquire`. */
  readonly plain:
    | { readonly counts: readonly Mutable<Count>[]; readonly request: Mutable<CountRequest> }
    | undefined;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;
}

export interface ScratchGroup extends AcquireGroup {
  readonly limits: readonly ScratchLimit[];
}

export interface ScratchLimit extends Mutable<AcquireLimit> {
  readonly resolved: ResolvedLimit;
  /** Hits above this number are near the limit. */
  readonly near: number;
}
