import { type Count, type CounterStore, Outcome } from "../counters/store.ts";
import type { RuleStatistics } from "../observe/statistics.ts";
import { Code, type RateLimitRequest, Unit } from "../protocol/messages.ts";
import { codeNames, unitNames, windowSeconds } from "../protocol/units.ts";
import { type Explanation, explainMatch } from "../rules/explain.ts";
import { overrideMatch } from "../rules/override.ts";
import type { Match, RuleSet } from "../rules/rule.ts";
import { cacheKeyStem } from "./cache-key.ts";
import type { DecisionOptions } from "./decide.ts";
import { DecisionError } from "./errors.ts";
import { hitsOf } from "./hits.ts";
import { nearLimit } from "./near-limit.ts";
import { overallCode } from "./overall.ts";
import { replaced } from "./replaces.ts";
import { checkUnit } from "./resolve.ts";
import { tally } from "./tally.ts";
import { secondsUntilReset, windowStart } from "./window.ts";
import { newStatus, UNLIMITED_REMAINING } from "./work.ts";

/** Why one descriptor would be answered as it would. */
export interface DescriptorExplanation extends Explanation {
  readonly hits: number;
  /** Whether another matching rule replaces this one: it is neither counted nor answered. */
  readonly replaced: boolean;
  readonly cacheKey?: string;
  readonly window?: {
    readonly unit: string;
    /** Seconds since the epoch. */
    readonly start: number;
    readonly end: number;
    readonly secondsUntilReset: number;
  };
  /** What the store holds now; absent where nothing is counted. */
  readonly count?: number;
  readonly answer: { readonly code: string; readonly limitRemaining: number };
}

export interface DecisionExplanation {
  readonly overallCode: string;
  readonly descriptors: readonly DescriptorExplanation[];
}

/**
 * Explains what a call would be answered now, and why. Looks at counters, and counts nothing.
 * @throws {DecisionError | StoreError}
 */
export async function explainDecision(
  request: RateLimitRequest,
  ruleSet: RuleSet | undefined,
  store: CounterStore,
  options: DecisionOptions,
  now: number,
): Promise<DecisionExplanation> {
  if (request.domain === "")
    throw new DecisionError("INVALID_ARGUMENT", "rate limit domain must not be empty");
  if (request.descriptors.length === 0) {
    throw new DecisionError("INVALID_ARGUMENT", "rate limit descriptor list must not be empty");
  }
  if (ruleSet === undefined) throw new DecisionError("UNAVAILABLE", "no rate limit configuration loaded");
  const { domain } = request;
  const nowSeconds = Math.floor(now / 1000);
  const matches = request.descriptors.map(({ entries, limit }) => {
    if (limit === undefined) return ruleSet.match(domain, entries);
    checkUnit(limit);
    return ruleSet.hasDomain(domain) ? overrideMatch(domain, entries, limit) : undefined;
  });
  const dropped = replaced(matches.map((match) => match?.rule));
  const looks = matches.map((match, index) =>
    dropped[index] ? undefined : lookFor(match, request, index, options, nowSeconds),
  );
  const counts = looks.filter((look) => look !== undefined);
  if (counts.length > 0) await store.count({ counts, allOrNothing: false, now, deadline: 0 });

  const wouldExceed =
    options.stopIncrementing &&
    looks.some((look, index) => {
      return look !== undefined && look.after + signedHits(request, index) > look.limit;
    });
  const statuses = looks.map((look, index) => {
    const rule = dropped[index] ? undefined : matches[index]?.rule;
    if (rule === undefined || look === undefined) {
      return {
        code: Code.OK,
        currentLimit: undefined,
        limitRemaining: rule?.unlimited ? UNLIMITED_REMAINING : 0,
        durationUntilReset: 0,
      };
    }
    const hits = signedHits(request, index);
    const exceeds = look.after + hits > look.limit;
    const held = wouldExceed && !exceeds;
    const outcome = look.outcome !== Outcome.COUNTED ? look.outcome : held ? Outcome.HELD : Outcome.COUNTED;
    const after = held ? look.after : Math.max(0, look.after + hits);
    const limit = rule.requestsPerUnit;
    const currentLimit = { requestsPerUnit: limit, unit: rule.unit, name: rule.name };
    const context = { currentLimit, near: nearLimit(limit, options.nearLimitRatio) };
    const status = newStatus(context.currentLimit, 0);
    tally({ ...look, hits, outcome, after }, { ...nothing }, context, rule, nowSeconds, status);
    return status;
  });
  const rules = matches.map((match, index) => ({ rule: dropped[index] ? undefined : match?.rule }));
  const code = overallCode(statuses, rules, options.quotaMode);
  return {
    overallCode: codeNames[options.shadowMode ? Code.OK : code],
    descriptors: request.descriptors.map((descriptor, index) => {
      const look = looks[index];
      const unit = matches[index]?.rule.unit ?? Unit.UNKNOWN;
      const { code, limitRemaining } = statuses[index]!;
      return {
        ...explainMatch(ruleSet, domain, descriptor.entries, descriptor.limit),
        hits: signedHits(request, index),
        replaced: dropped[index]!,
        ...(look !== undefined && {
          cacheKey: look.stem + look.windowStart,
          window: {
            unit: unitNames[unit],
            start: look.windowStart,
            end: look.windowStart + windowSeconds[unit]!,
            secondsUntilReset: secondsUntilReset(nowSeconds, unit),
          },
          ...(look.outcome === Outcome.COUNTED && { count: look.after }),
        }),
        answer: { code: codeNames[code], limitRemaining },
      };
    }),
  };
}

const nothing: RuleStatistics = {
  totalHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 0,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
};

function signedHits(request: RateLimitRequest, index: number): number {
  const descriptor = request.descriptors[index]!;
  const hits = hitsOf(descriptor, request);
  return descriptor.isNegativeHits && hits > 0 ? -hits : hits;
}

function lookFor(
  match: Match | undefined,
  request: RateLimitRequest,
  index: number,
  options: DecisionOptions,
  nowSeconds: number,
): Count | undefined {
  if (match === undefined || match.rule.unlimited) return undefined;
  const { unit, requestsPerUnit } = match.rule;
  const { entries } = request.descriptors[index]!;
  return {
    stem: cacheKeyStem(options.cacheKeyPrefix, request.domain, entries, match, unit),
    windowStart: windowStart(nowSeconds, unit),
    windowSize: windowSeconds[unit]!,
    hits: 0,
    limit: requestsPerUnit,
    outcome: Outcome.COUNTED,
    after: 0,
  };
}
