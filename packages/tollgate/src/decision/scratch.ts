import { type Count, type CountRequest, HoldBack, Outcome, Refuses } from "../counters/store.ts";
import {
  Code,
  type CurrentLimit,
  type DescriptorStatus,
  type HeaderValue,
  type RateLimitResponse,
} from "../protocol/messages.ts";
import type { Mutable } from "./mutable.ts";
import { refusals } from "./overall.ts";
import type { PreparedPart } from "./prepare.ts";
import { windowStart } from "./window.ts";

/** `limit_remaining` of an `unlimited` rule: the greatest uint32. */
export const UNLIMITED_REMAINING = 0xffff_ffff;

const noHeaders: readonly HeaderValue[] = [];

/**
 * The objects of one decision: the request to the store and the response. Only a few numbers change between decisions
 * of the same request, so the objects are reused (0 instead of 576 bytes for a decision of one descriptor).
 */
export interface DecisionScratch {
  /** One for each part that the store counts, in order. */
  readonly counts: readonly Mutable<Count>[];
  readonly request: Mutable<CountRequest>;
  /** One for each part. */
  readonly statuses: readonly Mutable<DescriptorStatus>[];
  readonly response: Mutable<RateLimitResponse>;
}

export interface ScratchOptions {
  /** `QUOTA_MODE` */
  readonly quotaMode: boolean;
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` */
  readonly stopIncrementing: boolean;
}

export function newScratch(parts: readonly PreparedPart[], options: ScratchOptions): DecisionScratch {
  const refuses = refusals(parts, options.quotaMode);
  const counts: Mutable<Count>[] = [];
  const statuses: Mutable<DescriptorStatus>[] = [];
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const { rule } = part;
    if (rule === undefined || part.statistics === undefined) statuses.push(newStatus(undefined, 0));
    else if (rule.unlimited) statuses.push(newStatus(undefined, UNLIMITED_REMAINING));
    else {
      statuses.push(newStatus(part.currentLimit, 0));
      counts.push({
        stem: part.stem,
        windowStart: 0,
        windowSize: part.windowSize,
        hits: part.hits,
        limit: rule.requestsPerUnit,
        refuses: refuses[index]!,
        outcome: Outcome.COUNTED,
        after: 0,
      });
    }
  }
  const mayHold = options.stopIncrementing && refuses.some((value) => value !== Refuses.NEVER);
  return {
    counts,
    request: {
      counts,
      holdBack: mayHold ? HoldBack.WHEN_REFUSED : HoldBack.NEVER,
      now: 0,
      deadline: 0,
    },
    statuses,
    response: {
      overallCode: Code.OK,
      statuses,
      responseHeadersToAdd: noHeaders,
      dynamicMetadata: undefined,
    },
  };
}

/** A status for `tally` to fill in. */
export function newStatus(
  currentLimit: CurrentLimit | undefined,
  limitRemaining: number,
): Mutable<DescriptorStatus> {
  return { code: Code.OK, currentLimit, limitRemaining, durationUntilReset: 0 };
}

/** Counts the statistics that need no store, and resets the counts for the store. */
export function prepareScratch(
  parts: readonly PreparedPart[],
  scratch: DecisionScratch,
  nowSeconds: number,
): void {
  let counted = 0;
  for (let index = 0; index < parts.length; index++) {
    const { rule, statistics, hits, isRefund, domainNotFound } = parts[index]!;
    if (rule === undefined || statistics === undefined) {
      if (domainNotFound !== undefined) domainNotFound.value++;
      continue;
    }
    if (!isRefund) statistics.totalHits += hits;
    if (rule.unlimited) {
      if (!isRefund) statistics.withinLimit += hits;
      continue;
    }
    const count = scratch.counts[counted++]!;
    count.windowStart = windowStart(nowSeconds, rule.unit);
    count.outcome = Outcome.COUNTED;
    count.after = 0;
  }
}
