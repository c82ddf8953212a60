/** Explains the limits of a rule with more than a number, a unit and a name. */
import { isRefused } from "../counters/hold-back.ts";
import { type CounterStore, Outcome, promised } from "../counters/store.ts";
import { newRuleStatistics, type Statistics } from "../observe/statistics.ts";
import type { DescriptorStatus, Entry, RateLimitRequest } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { AlgorithmName } from "../rules/limit.ts";
import type { Match } from "../rules/rule.ts";
import { askStore, copyCounts } from "./decide-limits.ts";
import type { KeyFormat } from "./key-format.ts";
import { LimitsScratch, type ScratchGroup, type ScratchLimit } from "./limits-scratch.ts";
import { signedHits } from "./prepare.ts";
import type { PreparedPart } from "./prepared.ts";
import { newPart, passing } from "./prepared.ts";
import { resolveLimits, stemsOf } from "./resolve-limits.ts";
import type { ResolvedLimit } from "./resolved-limit.ts";
import type { ScratchOptions } from "./scratch.ts";
import { tallyLimits } from "./tally-limits.ts";

/** A window in time. Seconds since the epoch. */
export interface ExplainedWindow {
  /** `DAY`, or with a multiplier `15 MINUTE`. */
  readonly unit: string;
  readonly start: number;
  readonly end: number;
  readonly secondsUntilReset: number;
}

/** One limit, and what its counter holds. */
export interface LimitExplanation {
  readonly name?: string;
  readonly algorithm: AlgorithmName;
  readonly count: "all" | "accepted";
  readonly limit: number;
  /** The size of a token bucket. */
  readonly burst?: number;
  /** Tokens left above the bucket that an operator granted. */
  readonly granted?: number;
  /** Whether open reservations count for every decision. */
  readonly reservations?: true;
  /** T, in seconds. Of a calendar window: the length of the current one. */
  readonly seconds: number;
  readonly cacheKey: string;
  /** The window of a fixed window's limit. */
  readonly window?: ExplainedWindow;
  /** Hits in use now, rounded up. Absent if the counter was not read. */
  readonly used?: number;
  readonly remaining?: number;
}

/** The limits of a match, without their counters. */
export function describeLimits(
  keyFormat: KeyFormat,
  domain: string,
  entries: readonly Entry[],
  match: Match,
  nowSeconds: number,
): readonly LimitExplanation[] {
  const stems = stemsOf(keyFormat, domain, entries, match);
  return resolveLimits(noStatistics, match, 1).map((limit, index) =>
    describe(limit, stems[index]!, nowSeconds),
  );
}

function describe({ limit, algorithm }: ResolvedLimit, stem: string, nowSeconds: number): LimitExplanation {
  const start = limit.window.startOf(nowSeconds);
  const { size } = limit.window;
  const unit = unitNames[limit.unit];
  return {
    ...(limit.name !== "" && { name: limit.name }),
    algorithm: limit.algorithm,
    count: limit.acceptedOnly ? "accepted" : "all",
    limit: limit.requestsPerUnit,
    ...(limit.algorithm === "token_bucket" && { burst: limit.burst }),
    ...(limit.reservations && { reservations: true as const }),
    seconds: size,
    cacheKey: algorithm.perWindow ? `${stem}${start}` : stem,
    ...(algorithm.perWindow && {
      window: {
        unit: limit.multiplier === 1 ? unit : `${limit.multiplier} ${unit}`,
        start,
        end: start + size,
        secondsUntilReset: start + size - nowSeconds,
      },
    }),
  };
}

export interface ExplainedAnswers {
  readonly statuses: readonly DescriptorStatus[];
  /** For each descriptor that is counted. */
  readonly limits: readonly (readonly LimitExplanation[] | undefined)[];
}

/**
 * Looks at the limits of a request, and works out how the request would be answered. Counts nothing.
 * @param matches one for each descriptor; undefined if no rule applies
 * @param stems the cache keys of rules without `limits`, without their window starts
 * @throws {StoreError}
 */
export async function explainAnswers(
  request: RateLimitRequest,
  matches: readonly (Match | undefined)[],
  stems: readonly string[],
  store: CounterStore,
  options: ScratchOptions & { readonly keyFormat: KeyFormat; readonly nearLimitRatio: number },
  now: number,
): Promise<ExplainedAnswers> {
  const { domain, descriptors } = request;
  const nowSeconds = Math.floor(now / 1000);
  const parts = matches.map((match, index) => {
    const part = partOf(match, stems[index]!);
    if (match?.rule.limits === undefined) return part;
    const { entries } = descriptors[index]!;
    const limits = resolveLimits(noStatistics, match, options.nearLimitRatio);
    const ofLimits = stemsOf(options.keyFormat, domain, entries, match);
    return { ...part, resolution: { ...part.resolution, limits, stems: ofLimits } };
  });
  const scratch = new LimitsScratch(parts.length);
  // A refused look must not hold the other looks back.
  scratch.arrange(parts, { ...options, stopIncrementing: false }, nowSeconds, noKeys, false);
  await promised((waiter) => askStore(scratch, store, now, 0, waiter));
  if (scratch.isPlain) copyCounts(scratch);
  const hits = parts.flatMap(({ resolution: { rule } }, index) =>
    rule === undefined || rule.unlimited ? [] : [signedHits(descriptors[index]!, request)],
  );
  const groups = simulate(scratch, hits, options.stopIncrementing);
  tallyLimits(parts, { statuses: scratch.statuses, groups }, nowSeconds);
  let decided = 0;
  const limits = parts.map(({ resolution: { rule } }) => {
    if (rule === undefined || rule.unlimited) return undefined;
    const group = scratch.groups[decided++]!;
    return group.limits.map((limit) => {
      const { used, resolved, stem } = limit;
      const explained = describe(resolved, stem, nowSeconds);
      const isRead = group.outcome === Outcome.COUNTED;
      if (!isRead) return explained;
      const room = roomOf(limit);
      const granted = room - resolved.cap;
      return { ...explained, used, remaining: Math.max(room - used, 0), ...(granted > 0 && { granted }) };
    });
  });
  return { statuses: scratch.statuses, limits };
}

const noKeys = { keys: Buffer.alloc(0), words: new Int32Array(0) };

function partOf(match: Match | undefined, stem: string): PreparedPart {
  const rule = match?.rule;
  const { requestsPerUnit = 0, unit = 0, name = "" } = rule ?? {};
  const currentLimit = { requestsPerUnit, unit, name };
  const statistics = rule && newRuleStatistics();
  return { ...newPart(), resolution: { ...passing, rule, statistics, stem, currentLimit } };
}

/**
 * The answers that the groups of a request would give to hits. The request itself only looks, and a look shows the sum of
 * a sliding window's two counts. So for a refund this assumes that all hits are in the current window.
 */
function simulate(
  scratch: LimitsScratch,
  hits: readonly number[],
  stopIncrementing: boolean,
): readonly ScratchGroup[] {
  const groups = takeInOrder(scratch.groups, hits, () => true);
  const isHeld =
    stopIncrementing && groups.length > 1 && isRefused(groups, (index) => !groups[index]!.accepted);
  if (!isHeld) return groups;
  const exceeding = new Set(
    groups.flatMap(({ limits }) => limits.filter(({ accepted }) => !accepted).map(({ stem }) => stem)),
  );
  return takeInOrder(
    scratch.groups,
    hits,
    ({ limits }, index) => hits[index]! < 0 || limits.some(({ stem }) => exceeding.has(stem)),
    groups,
  );
}

/**
 * Takes the hits of groups, each after those of the earlier ones.
 * @param counts whether hits of a group count; if not, the group is held back
 * @param verdicts the groups with their verdicts, if these are known
 */
function takeInOrder(
  groups: readonly ScratchGroup[],
  hits: readonly number[],
  counts: (group: ScratchGroup, index: number) => boolean,
  verdicts?: readonly ScratchGroup[],
): readonly ScratchGroup[] {
  const inUse = new Map<string, number>();
  return groups.map((group, index): ScratchGroup => {
    const asked = hits[index]!;
    const known = verdicts?.[index];
    const limits = group.limits.map((limit, at) => {
      const before = withUsed(limit, inUse.get(limit.stem) ?? limit.used);
      const verdict = known?.limits[at];
      return { ...before, accepted: verdict?.accepted ?? fits(before, asked) };
    });
    const accepted = known?.accepted ?? limits.every((limit) => limit.accepted);
    const isCounted = counts(group, index);
    const takes = isCounted && (accepted || limits[0]!.algorithm.countsRefused);
    const after = takes ? limits.map((limit) => withUsed(limit, limit.used + asked)) : limits;
    for (const { stem, used } of after) inUse.set(stem, used);
    return {
      ...group,
      hits: asked,
      outcome: isCounted ? group.outcome : Outcome.HELD,
      accepted: group.outcome === Outcome.COUNTED ? accepted : group.accepted,
      limits: after,
    };
  });
}

function fits(limit: ScratchLimit, hits: number): boolean {
  const { resolved, algorithm, used } = limit;
  const isLook = hits === 0 && algorithm.countsRefused && !resolved.limit.strict;
  return hits < 0 || used + (isLook ? 0 : Math.max(hits, 1)) <= roomOf(limit);
}

/** The greatest number of hits in use, with those that an operator granted above a bucket. */
function roomOf({ resolved, used, remaining }: ScratchLimit): number {
  const { cap } = resolved;
  return resolved.limit.algorithm === "token_bucket" ? Math.max(cap, used + remaining) : cap;
}

function withUsed(limit: ScratchLimit, hits: number): ScratchLimit {
  const used = Math.max(hits, 0);
  return { ...limit, used, remaining: Math.max(roomOf(limit) - used, 0) };
}

const noStatistics: Pick<Statistics, "rule"> = { rule: newRuleStatistics };
