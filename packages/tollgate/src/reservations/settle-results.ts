/** The statuses and the statistics of settled calls. */
import { type ReservationRequest, Verdict } from "../counters/reservations.ts";
import { Outcome } from "../counters/store.ts";
import { type LimitsScratch, tightest } from "../decision/limits-scratch.ts";
import type { PreparedPart, Resolution } from "../decision/prepared.ts";
import { countHits } from "../decision/tally.ts";
import { tallyGroup } from "../decision/tally-limits.ts";
import { newRuleStatistics, type RuleStatistics, type Statistics } from "../observe/statistics.ts";
import type { OpenHolds } from "./open-holds.ts";

interface Settled {
  readonly parts: readonly PreparedPart[];
  readonly limits: LimitsScratch;
  readonly request: Pick<ReservationRequest, "verdict" | "now" | "ttl">;
}

/** A look changes no statistic. */
const discarded = newRuleStatistics();

type Limited = Resolution & {
  readonly rule: NonNullable<Resolution["rule"]>;
  readonly statistics: RuleStatistics;
};

function isLimited(resolution: Resolution): resolution is Limited {
  const { rule, statistics } = resolution;
  return rule !== undefined && statistics !== undefined && !rule.unlimited;
}

/** Fills in the statuses of a check or a report. */
export function statusesOf({ parts, limits }: Settled, nowSeconds: number): void {
  const { groups, statuses } = limits;
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const { resolution } = parts[index]!;
    if (!isLimited(resolution)) continue;
    tallyGroup(groups[decided++]!, discarded, resolution.rule.shadowMode, nowSeconds, statuses[index]!);
  }
}

/**
 * Counts holds that have ended unused, that this call released, and that a snapshot has restored. The ends of restored
 * holds are unknown, so their counter is due at once.
 */
export function countEnded({ parts, limits, request }: Settled, all: Statistics, open: OpenHolds): void {
  const { groups } = limits;
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const { resolution } = parts[index]!;
    if (!isLimited(resolution)) continue;
    const group = groups[decided++]!;
    const { expired, released, restored } = group;
    if (restored + expired + released === 0) continue;
    const { statistics } = resolution;
    const counts = all.reservationsOf(statistics);
    counts.reserved += restored;
    counts.expired += expired;
    counts.released += released;
    if (restored > 0) open.add(group, statistics, request.now);
  }
}

/** Counts the hits of a report or of a commit. */
export function countCharge({ parts, limits }: Settled): void {
  const { groups } = limits;
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const { resolution, hits, isRefund } = parts[index]!;
    const { rule, statistics } = resolution;
    if (rule === undefined || statistics === undefined) continue;
    if (isRefund) statistics.totalNegativeHits -= hits;
    else statistics.totalHits += hits;
    if (rule.unlimited) {
      if (!isRefund) statistics.withinLimit += hits;
      continue;
    }
    const { outcome, limits } = groups[decided++]!;
    if (hits <= 0 || outcome !== Outcome.COUNTED) continue;
    const { used, held, resolved } = tightest(limits);
    const over = countHits(statistics, hits, used - held, resolved.cap, resolved.near);
    if (rule.shadowMode) statistics.shadowMode += over;
  }
}

/** Counts the hits of a commit for its rules. */
export function countCommitted({ parts }: Settled, all: Statistics): void {
  for (let index = 0; index < parts.length; index++) {
    const { resolution, hits } = parts[index]!;
    const { statistics } = resolution;
    if (statistics !== undefined) all.reservationsOf(statistics).committed += hits;
  }
}

/** Counts the hits that a reservation holds, or those that were refused. */
export function countReserve({ parts, limits, request }: Settled, all: Statistics, open: OpenHolds): void {
  const { groups } = limits;
  const isHeld = request.verdict === Verdict.OK;
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const { resolution, hits } = parts[index]!;
    if (!isLimited(resolution)) continue;
    const group = groups[decided++]!;
    if (group.outcome !== Outcome.COUNTED) continue;
    const { rule, statistics } = resolution;
    if (group.accepted) {
      if (!isHeld) continue;
      all.reservationsOf(statistics).reserved += hits;
      open.add(group, statistics, request.now + request.ttl);
      continue;
    }
    statistics.totalHits += hits;
    statistics.overLimit += hits;
    if (rule.shadowMode) statistics.shadowMode += hits;
  }
}
