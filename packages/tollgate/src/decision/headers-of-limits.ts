/** The response headers of a request with a rule that has `limits`. */
import { Outcome } from "../counters/store.ts";
import { Code, type DescriptorStatus, type HeaderValue } from "../protocol/messages.ts";
import { statisticName } from "../rules/limit.ts";
import { type HeaderOptions, limitHeaders, nameOf } from "./headers.ts";
import type { LimitsScratch, ScratchLimit } from "./limits-scratch.ts";
import type { PreparedPart } from "./prepared.ts";
import { UNLIMITED_REMAINING } from "./scratch.ts";

/** The `contract` headers show the tightest limit; those of the draft list every limit of every descriptor. */
export function headersOfLimits(
  options: HeaderOptions,
  parts: readonly PreparedPart[],
  { groups, statuses }: LimitsScratch,
  overallCode: Code,
): HeaderValue[] {
  if (options.format === "contract")
    return limitHeaders(
      options,
      statuses,
      parts.map(({ resolution }) => nameOf(resolution)),
      overallCode,
    );
  const all: DescriptorStatus[] = [];
  const names: string[] = [];
  const sizes: number[] = [];
  let decided = 0;
  parts.forEach((part, index) => {
    const status = statuses[index]!;
    if (status.currentLimit === undefined) return;
    const { limits, outcome } = groups[decided++]!;
    for (const limit of limits) {
      all.push(
        isUndecided(outcome)
          ? { ...status, currentLimit: limit.resolved.currentLimit }
          : statusOf(limit, part),
      );
      names.push(nameOfLimit(limit, part));
      sizes.push(limit.windowSize);
    }
  });
  return limitHeaders(options, all, names, overallCode, sizes);
}

function isUndecided(outcome: Outcome): boolean {
  return outcome === Outcome.ALLOWED || outcome === Outcome.DENIED;
}

function statusOf(limit: ScratchLimit, { resolution: { rule } }: PreparedPart): DescriptorStatus {
  return {
    code: limit.accepted || rule!.shadowMode ? Code.OK : Code.OVER_LIMIT,
    currentLimit: limit.resolved.currentLimit,
    limitRemaining: limit.accepted ? Math.min(limit.remaining, UNLIMITED_REMAINING) : 0,
    durationUntilReset: limit.reset,
  };
}

function nameOfLimit({ resolved: { limit } }: ScratchLimit, { resolution }: PreparedPart): string {
  return limit.isListed ? `${nameOf(resolution)}.${statisticName(limit)}` : nameOf(resolution);
}
