import { type Count, HoldBack, Outcome, Refuses } from "../counters/store.ts";
import { Code, type CurrentLimit, type DescriptorStatus, type HeaderValue } from "../protocol/messages.ts";
import { quotaPasses, refusalOf } from "./overall.ts";
import type { DecisionScratch, Mutable, PreparedPart } from "./prepared.ts";
import { windowStart } from "./window.ts";

/** `limit_remaining` of an `unlimited` rule: the greatest uint32. */
export const UNLIMITED_REMAINING = 0xffff_ffff;

const noHeaders: readonly HeaderValue[] = [];

export interface ScratchOptions {
  /** `QUOTA_MODE` */
  readonly quotaMode: boolean;
  /** `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT` */
  readonly stopIncrementing: boolean;
}

export function newScratch(parts: readonly PreparedPart[], options: ScratchOptions): DecisionScratch {
  const { quotaMode } = options;
  const passes = quotaPasses(parts, quotaMode);
  let mayRefuse = false;
  const counts: Mutable<Count>[] = [];
  const statuses: Mutable<DescriptorStatus>[] = [];
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    const { rule } = part;
    if (rule === undefined || part.statistics === undefined) statuses.push(newStatus(undefined, 0));
    else if (rule.unlimited) statuses.push(newStatus(undefined, UNLIMITED_REMAINING));
    else {
      const refuses = refusalOf(part, quotaMode, passes);
      if (refuses !== Refuses.NEVER) mayRefuse = true;
      statuses.push(newStatus(part.currentLimit, 0));
      counts.push({
        stem: part.stem,
        windowStart: 0,
        windowSize: part.windowSize,
        hits: part.hits,
        limit: rule.requestsPerUnit,
        refuses,
        outcome: Outcome.COUNTED,
        after: 0,
      });
    }
  }
  const mayHold = options.stopIncrementing && mayRefuse;
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
