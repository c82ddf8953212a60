/** The statuses and the statistics of settled calls. */
import { Verdict } from "../counters/reservations.ts";
import { Outcome } from "../counters/store.ts";
import type { LimitsScratch, ScratchGroup } from "../decision/limits-scratch.ts";
import { tightest } from "../decision/limits-scratch.ts";
import type { PreparedPart } from "../decision/prepared.ts";
import { countHits } from "../decision/tally.ts";
import { tallyGroup } from "../decision/tally-limits.ts";
import type { RuleStatistics, Statistics } from "../observe/statistics.ts";

interface Settled {
  readonly parts: readonly PreparedPart[];
  readonly limits: LimitsScratch;
  readonly request: { readonly verdict: Verdict };
}

/** A look changes no statistic. */
const discarded: RuleStatistics = {
  totalHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 0,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
  totalNegativeHits: 0,
};

/** Visits the parts that the store settled, with their groups. */
function each(
  { parts, limits }: Settled,
  visit: (part: Limited, group: ScratchGroup, index: number) => void,
): void {
  let decided = 0;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    if (isLimited(part)) visit(part, limits.groups[decided++]!, index);
  }
}

type Limited = PreparedPart & {
  readonly rule: NonNullable<PreparedPart["rule"]>;
  readonly statistics: RuleStatistics;
};

function isLimited(part: PreparedPart): part is Limited {
  return part.rule !== undefined && part.statistics !== undefined && !part.rule.unlimited;
}

/** Fills in the statuses of a check or a report. */
export function statusesOf(settled: Settled, nowSeconds: number): void {
  each(settled, ({ rule }, group, index) => {
    tallyGroup(group, discarded, rule.shadowMode, nowSeconds, settled.limits.statuses[index]!);
  });
}

/**
 * Counts holds that have ended unused, that this call released, and that a snapshot has restored.
 * @param onRestored called for each group with restored holds
 */
export function countEnded(
  settled: Settled,
  all: Statistics,
  onRestored: (group: ScratchGroup, statistics: RuleStatistics) => void,
): void {
  each(settled, ({ statistics }, group) => {
    const { expired, released, restored } = group;
    if (restored > 0) {
      all.reservationsOf(statistics).reserved += restored;
      onRestored(group, statistics);
    }
    if (expired > 0) all.reservationsOf(statistics).expired += expired;
    if (released > 0) all.reservationsOf(statistics).released += released;
  });
}

/**
 * Counts the hits of a report, or of a commit.
 * @param committed the statistics of a commit's rules
 */
export function countCharge(settled: Settled, committed?: Statistics): void {
  for (const { rule, statistics, hits, isRefund } of settled.parts) {
    if (rule === undefined || statistics === undefined) continue;
    if (isRefund) statistics.totalNegativeHits -= hits;
    else statistics.totalHits += hits;
    if (rule.unlimited && !isRefund) statistics.withinLimit += hits;
    if (committed !== undefined) committed.reservationsOf(statistics).committed += hits;
  }
  each(settled, ({ rule, statistics, hits }, { outcome, limits }) => {
    if (hits <= 0 || outcome !== Outcome.COUNTED) return;
    const { used, held, resolved } = tightest(limits);
    const over = countHits(statistics, hits, used - held, resolved.cap, resolved.near);
    if (rule.shadowMode) statistics.shadowMode += over;
  });
}

/**
 * Counts the hits that a reservation holds, or those that were refused.
 * @param onHeld called for each group that holds hits
 */
export function countReserve(
  settled: Settled,
  all: Statistics,
  onHeld: (group: ScratchGroup, statistics: RuleStatistics) => void,
): void {
  const isHeld = settled.request.verdict === Verdict.OK;
  each(settled, ({ rule, statistics, hits }, group) => {
    const { outcome, accepted } = group;
    if (outcome !== Outcome.COUNTED) return;
    if (accepted) {
      if (!isHeld) return;
      all.reservationsOf(statistics).reserved += hits;
      onHeld(group, statistics);
      return;
    }
    statistics.totalHits += hits;
    statistics.overLimit += hits;
    if (rule.shadowMode) statistics.shadowMode += hits;
  });
}
