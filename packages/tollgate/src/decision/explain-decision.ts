import { countTogether } from "../counters/count-together.ts";
import { type Count, type CounterStore, HoldBack, Outcome, type Refuses } from "../counters/store.ts";
import { newRuleStatistics } from "../observe/statistics.ts";
import { withOverrides } from "../overrides/table.ts";
import { adjustmentNotes } from "../overrides/texts.ts";
import {
  Code,
  type Descriptor,
  type DescriptorStatus,
  type RateLimitRequest,
  Unit,
} from "../protocol/messages.ts";
import { codeNames, unitNames, windowSeconds } from "../protocol/units.ts";
import { type Explanation, explainMatch } from "../rules/explain-match.ts";
import { overrideMatch } from "../rules/override.ts";
import type { Match, Rule, RuleSet } from "../rules/rule.ts";
import { printableData } from "../text/printable.ts";
import type { DecisionOptions } from "./decide.ts";
import { DecisionError } from "./decision-error.ts";
import { type ExplainedWindow, explainAnswers, type LimitExplanation } from "./explain-limits.ts";
import { overallCode, refusals } from "./overall.ts";
import { signedHits } from "./prepare.ts";
import { replaced } from "./replaces.ts";
import { checkOverride } from "./resolve.ts";
import { newStatus, UNLIMITED_REMAINING } from "./scratch.ts";
import { nearLimit, tally } from "./tally.ts";
import { secondsUntilReset, windowStart } from "./window.ts";

/** Explains the answer to one descriptor. */
export interface DescriptorExplanation extends Explanation {
  readonly hits: number;
  /** Another matching rule replaces this one: its limit is neither counted nor reported. */
  readonly replaced: boolean;
  /** The key of a rule with one limit, like `window` and `count`. */
  readonly cacheKey?: string;
  readonly window?: ExplainedWindow;
  /** The current count; absent if nothing is counted. */
  readonly count?: number;
  /** The limits of a rule that has several, or one with more than a number and a unit. */
  readonly limits?: readonly LimitExplanation[];
  readonly answer: { readonly code: string; readonly limitRemaining: number };
}

export interface DecisionExplanation {
  readonly overallCode: string;
  readonly descriptors: readonly DescriptorExplanation[];
}

/**
 * Explains how a call would be answered now, and why. Reads counters without incrementing them.
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
    if (limit === undefined)
      return withOverrides(options.overrides, ruleSet.match(domain, entries), domain, entries);
    checkOverride(limit);
    return ruleSet.hasDomain(domain) ? overrideMatch(domain, entries, limit) : undefined;
  });
  const dropped = replaced(matches.map((match) => match?.rule));
  const rules = matches.map((match, index) => ({ rule: dropped[index] ? undefined : match?.rule }));
  if (rules.some(({ rule }) => rule?.limits !== undefined)) {
    const stems = matches.map((match, index) => {
      const { rule } = rules[index]!;
      if (match === undefined || rule === undefined || rule.unlimited || rule.limits !== undefined) return "";
      return options.keyFormat(domain, request.descriptors[index]!.entries, match, rule.unit);
    });
    const applying = matches.map((match, index) => (dropped[index] ? undefined : match));
    const { statuses, limits } = await explainAnswers(request, applying, stems, store, options, now);
    const details = limits.map(
      (own, index) => own && detailsOf(own, rules[index]!.rule?.limits !== undefined),
    );
    return explanationOf(request, ruleSet, rules, dropped, statuses, details, options);
  }
  const refuses = refusals(partsOf(rules), options.quotaMode);
  const looks = matches.map((match, index) =>
    dropped[index] ? undefined : lookFor(match, request, index, refuses[index]!, options, nowSeconds),
  );
  const counts = looks.filter((look) => look !== undefined);
  if (counts.length > 0) await store.count({ counts, holdBack: HoldBack.NEVER, now, deadline: 0 });

  const results = looks.map(
    (look, index) => look && { ...look, hits: signedHits(request.descriptors[index]!, request) },
  );
  countTogether(
    results.filter((result) => result !== undefined),
    counts,
    options.stopIncrementing ? HoldBack.WHEN_REFUSED : HoldBack.NEVER,
  );
  const statuses = results.map((result, index) => {
    const { rule } = rules[index]!;
    if (rule === undefined || result === undefined) {
      return {
        code: Code.OK,
        currentLimit: undefined,
        limitRemaining: rule?.unlimited ? UNLIMITED_REMAINING : 0,
        durationUntilReset: 0,
      };
    }
    const limit = rule.requestsPerUnit;
    const currentLimit = { requestsPerUnit: limit, unit: rule.unit, name: rule.name };
    const context = { currentLimit, near: nearLimit(limit, options.nearLimitRatio) };
    const status = newStatus(context.currentLimit, 0);
    tally(result, { ...nothing }, context, rule.shadowMode, nowSeconds, status);
    return status;
  });
  const details = looks.map((look, index): CounterDetails | undefined => {
    if (look === undefined) return undefined;
    const unit = matches[index]?.rule.unit ?? Unit.UNKNOWN;
    return {
      cacheKey: look.stem + look.windowStart,
      window: {
        unit: unitNames[unit],
        start: look.windowStart,
        end: look.windowStart + windowSeconds[unit]!,
        secondsUntilReset: secondsUntilReset(nowSeconds, unit),
      },
      ...(look.outcome === Outcome.COUNTED && { count: look.after }),
    };
  });
  return explanationOf(request, ruleSet, rules, dropped, statuses, details, options);
}

type CounterDetails = Pick<DescriptorExplanation, "cacheKey" | "window" | "count" | "limits">;

/** @param shown whether the rule has more than a number, a unit and a name */
function detailsOf(limits: readonly LimitExplanation[], shown: boolean): CounterDetails {
  const [only] = limits;
  const { cacheKey, window, used } = limits.length === 1 ? only! : {};
  return {
    ...(cacheKey !== undefined && { cacheKey }),
    ...(window !== undefined && { window }),
    ...(used !== undefined && { count: used }),
    ...(shown && { limits }),
  };
}

/** As `overall.ts` reads them. */
function partsOf<Resolved>(rules: readonly Resolved[]) {
  return rules.map((resolution) => ({ resolution }));
}

function explanationOf(
  request: RateLimitRequest,
  ruleSet: RuleSet,
  rules: readonly { readonly rule: Rule | undefined }[],
  dropped: readonly boolean[],
  statuses: readonly DescriptorStatus[],
  details: readonly (CounterDetails | undefined)[],
  options: DecisionOptions,
): DecisionExplanation {
  const code = overallCode(statuses, partsOf(rules), options.quotaMode);
  return printableData({
    overallCode: codeNames[options.shadowMode ? Code.OK : code],
    descriptors: request.descriptors.map((descriptor, index) => {
      const { code, limitRemaining } = statuses[index]!;
      const explained = explainMatch(ruleSet, request.domain, descriptor.entries, descriptor.limit);
      return {
        ...explained,
        notes: [...explained.notes, ...notesOf(ruleSet, request.domain, descriptor, options)],
        hits: signedHits(descriptor, request),
        replaced: dropped[index]!,
        ...details[index],
        answer: { code: codeNames[code], limitRemaining },
      };
    }),
  });
}

/** The changes of a descriptor's limits by operators, as texts. */
function notesOf(
  ruleSet: RuleSet,
  domain: string,
  { entries, limit }: Descriptor,
  { overrides }: DecisionOptions,
): readonly string[] {
  const match = limit === undefined ? ruleSet.match(domain, entries) : undefined;
  const now = overrides?.now() ?? 0;
  const records = overrides?.current?.recordsOf(domain, entries, now);
  return match === undefined || records === undefined ? [] : adjustmentNotes(match, records, now);
}

const nothing = newRuleStatistics();

function lookFor(
  match: Match | undefined,
  request: RateLimitRequest,
  index: number,
  refuses: Refuses,
  options: DecisionOptions,
  nowSeconds: number,
): Count | undefined {
  if (match === undefined || match.rule.unlimited) return undefined;
  const { unit, requestsPerUnit } = match.rule;
  const { entries } = request.descriptors[index]!;
  return {
    stem: options.keyFormat(request.domain, entries, match, unit),
    windowStart: windowStart(nowSeconds, unit),
    windowSize: windowSeconds[unit]!,
    hits: 0,
    limit: requestsPerUnit,
    refuses,
    outcome: Outcome.COUNTED,
    after: 0,
  };
}
