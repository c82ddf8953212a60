/**
 * Asks the store about a request with a rule that has `limits`. If all its limits are plain fixed windows, the store
 * counts them as usual. Otherwise the whole request goes through `acquire`.
 */
import { acquireFrom } from "../counters/acquire.ts";
import { algorithms } from "../counters/algorithms/algorithms.ts";
import { type Count, type CounterStore, HoldBack, Outcome, Refuses } from "../counters/store.ts";
import { Code, type DescriptorStatus } from "../protocol/messages.ts";
import { unitWindow } from "../rules/window.ts";
import type { LimitsScratch, ScratchGroup, ScratchLimit } from "./limits-scratch.ts";
import { quotaPasses, refusalOf } from "./overall.ts";
import type { Mutable, PreparedPart } from "./prepared.ts";
import type { ResolvedLimit } from "./resolve-limits.ts";
import { newStatus, type ScratchOptions, UNLIMITED_REMAINING } from "./scratch.ts";
import { nearLimit } from "./tally.ts";

export interface LimitsOptions extends ScratchOptions {
  readonly nearLimitRatio: number;
}

/** @param keys the stems of parts that have no `stem` */
export function newLimitsScratch(
  parts: readonly PreparedPart[],
  options: LimitsOptions,
  keys?: Buffer,
): LimitsScratch {
  const passes = quotaPasses(parts, options.quotaMode);
  const groups: ScratchGroup[] = [];
  const statuses: Mutable<DescriptorStatus>[] = [];
  for (const part of parts) {
    const { rule } = part;
    if (rule === undefined || part.statistics === undefined) statuses.push(newStatus(undefined, 0));
    else if (rule.unlimited) statuses.push(newStatus(undefined, UNLIMITED_REMAINING));
    else {
      const limits = part.limits ?? [plainLimitOf(part, keys)];
      statuses.push(newStatus(limits[0]!.currentLimit, 0));
      groups.push({
        limits: limits.map((limit) => newLimit(limit, part.hits, options.nearLimitRatio)),
        hits: part.hits,
        refuses: refusalOf(part, options.quotaMode, passes),
        outcome: Outcome.COUNTED,
        accepted: true,
      });
    }
  }
  const mayRefuse = groups.some(({ refuses }) => refuses !== Refuses.NEVER);
  const holdBack = options.stopIncrementing && mayRefuse ? HoldBack.WHEN_REFUSED : HoldBack.NEVER;
  const response = { overallCode: Code.OK, statuses, responseHeadersToAdd: [], dynamicMetadata: undefined };
  const plain = groups.every(({ limits }) => limits.every(({ algorithm }) => algorithm.countsRefused));
  const counts = groups.map(newCount);
  return {
    groups,
    request: { groups, holdBack, now: 0, deadline: 0 },
    plain: plain ? { counts, request: { counts, holdBack, now: 0, deadline: 0 } } : undefined,
    statuses,
    response,
  };
}

/** The limit of a rule without `limits`. */
function plainLimitOf(
  { rule, stem, stemStart, stemEnd, currentLimit }: PreparedPart,
  keys: Buffer | undefined,
): ResolvedLimit {
  const { requestsPerUnit, unit, name } = rule!;
  return {
    limit: {
      requestsPerUnit,
      unit,
      multiplier: 1,
      algorithm: "fixed_window",
      burst: requestsPerUnit,
      acceptedOnly: false,
      strict: false,
      calendar: undefined,
      name,
      window: unitWindow(unit),
      keyPart: "",
      isListed: false,
    },
    algorithm: algorithms.fixed_window,
    stem: stem || (keys?.toString("latin1", stemStart, stemEnd) ?? ""),
    cap: requestsPerUnit,
    currentLimit,
    statistics: undefined,
  };
}

function newLimit(resolved: ResolvedLimit, hits: number, nearLimitRatio: number): ScratchLimit {
  const { limit, algorithm, stem, cap } = resolved;
  // A plain window accepts a look up to its limit. With `strict` one hit must be left.
  const isStrictLook = limit.strict && algorithm.countsRefused && hits === 0;
  return {
    resolved,
    near: nearLimit(cap, nearLimitRatio),
    stem,
    algorithm,
    limit: limit.requestsPerUnit - (isStrictLook ? 1 : 0),
    burst: limit.burst,
    windowStart: 0,
    windowSize: limit.window.size,
    accepted: true,
    used: 0,
    remaining: 0,
    reset: 0,
  };
}

function newCount({ limits, hits, refuses }: ScratchGroup): Mutable<Count> {
  const { stem, windowSize, limit } = limits[0]!;
  return { stem, windowStart: 0, windowSize, hits, limit, refuses, outcome: Outcome.COUNTED, after: 0 };
}

/**
 * Counts the statistics that need no store, and asks the store.
 * @returns undefined if the store answered at once
 * @throws {StoreError} directly or as the promise's rejection
 */
export function askStore(
  parts: readonly PreparedPart[],
  scratch: LimitsScratch,
  store: CounterStore,
  now: number,
  deadline: number,
): Promise<void> | undefined {
  countParts(parts);
  const { groups, request, plain } = scratch;
  const seconds = Math.floor(now / 1000);
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index]!;
    group.outcome = Outcome.COUNTED;
    for (const limit of group.limits) {
      if (!limit.algorithm.perWindow) continue;
      const { window } = limit.resolved.limit;
      limit.windowStart = window.startOf(seconds);
      limit.windowSize = window.size;
    }
  }
  if (plain === undefined) {
    request.now = now;
    request.deadline = deadline;
    return acquireFrom(store, request) ?? undefined;
  }
  for (let index = 0; index < groups.length; index++) {
    const count = plain.counts[index]!;
    const limit = groups[index]!.limits[0]!;
    count.windowStart = limit.windowStart;
    count.windowSize = limit.windowSize;
    count.outcome = Outcome.COUNTED;
    count.after = 0;
  }
  plain.request.now = now;
  plain.request.deadline = deadline;
  const waiting = store.count(plain.request);
  if (waiting !== undefined) return waiting.then(() => copyCounts(scratch));
  copyCounts(scratch);
  return undefined;
}

/** Copies the results of plain counts to their groups. */
function copyCounts({ groups, plain }: LimitsScratch): void {
  for (let index = 0; index < groups.length; index++) {
    const { outcome, after, limit } = plain!.counts[index]!;
    const group = groups[index]!;
    group.outcome = outcome;
    group.limits[0]!.used = after;
    group.accepted = group.hits < 0 || after <= limit;
  }
}

function countParts(parts: readonly PreparedPart[]): void {
  for (const { rule, statistics, hits, isRefund, domainNotFound } of parts) {
    if (rule === undefined || statistics === undefined) {
      if (domainNotFound !== undefined) domainNotFound.value++;
      continue;
    }
    if (isRefund) {
      statistics.totalNegativeHits -= hits;
      continue;
    }
    statistics.totalHits += hits;
    if (rule.unlimited) statistics.withinLimit += hits;
  }
}
