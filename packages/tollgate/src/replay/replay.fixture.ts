/** Traffic that old rules decide, as the lines of a decision log. */
import { Code, type LimitOverride, type RateLimitRequest } from "../protocol/messages.ts";
import { codeNames, unitNames } from "../protocol/units.ts";
import { loadRules } from "../rules/load-rules.ts";
import type { RuleSet } from "../rules/rule.ts";
import { ruleKey } from "../simulate/rule-key.ts";
import { Simulation } from "../simulate/simulation.ts";

export interface Call {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** `k=v,l=w` */
  readonly descriptors: readonly string[];
  /** Negative for a refund. */
  readonly hits?: number;
  readonly limit?: LimitOverride;
}

export interface Recorded {
  readonly line: string;
  /** Whether each descriptor was refused. */
  readonly refused: readonly boolean[];
}

export function rulesOf(text: string): RuleSet {
  const { ruleSet, diagnostics } = loadRules([{ name: "d.yaml", text }], { mergeDomains: false });
  if (ruleSet === undefined) throw new Error(JSON.stringify(diagnostics));
  return ruleSet;
}

/** Decides calls, and writes them as the service writes its log. */
export function record(ruleSet: RuleSet, calls: readonly Call[], rate = 1): readonly Recorded[] {
  const settings = { shadowMode: false, quotaMode: false, stopIncrementing: false };
  const simulation = new Simulation(ruleSet, settings, calls[0]?.time ?? 0, 4 * 1024 ** 2);
  const counters = new Map<string, number>();
  return calls.map((call) => {
    const { time, hits = 1 } = call;
    simulation.clock.moveTo(time);
    const request = requestOf(call);
    const prepared = simulation.prepare(request);
    const { statuses, overallCode } = simulation.decide(prepared);
    const descriptors = statuses.map(({ code, currentLimit, limitRemaining, durationUntilReset }, index) => {
      const { rule, limits, stem, windowSize } = prepared.parts[index]!.resolution;
      const { entries } = request.descriptors[index]!;
      const pairs = entries.map(({ key, value }) => [key, value]);
      const common = { entries: pairs, hits, sampled: true, code: codeNames[code] };
      if (rule === undefined || currentLimit === undefined) return common;
      const { requestsPerUnit, unit, unitMultiplier } = currentLimit;
      const counter = `${stem}${Math.floor(time / 1000 / windowSize)}`;
      const count = Math.max(0, (counters.get(counter) ?? 0) + hits);
      counters.set(counter, count);
      return {
        ...common,
        rule: ruleKey(rule),
        ...(rule.location !== undefined && { file: `${rule.location.file}:${rule.location.line}` }),
        limit: {
          requests_per_unit: requestsPerUnit,
          unit: unitNames[unit].toLowerCase(),
          ...(unitMultiplier !== undefined && { unit_multiplier: unitMultiplier }),
        },
        ...(limits === undefined && { count }),
        remaining: limitRemaining,
        reset: durationUntilReset,
      };
    });
    const decision = {
      time: new Date(time).toISOString(),
      rate,
      reason: "sample",
      domain: "d",
      code: codeNames[overallCode],
      duration_us: 12,
      descriptors,
    };
    return { line: JSON.stringify(decision), refused: statuses.map(({ code }) => code === Code.OVER_LIMIT) };
  });
}

function requestOf({ descriptors, hits = 1, limit }: Call): RateLimitRequest {
  return {
    domain: "d",
    descriptors: descriptors.map((text) => ({
      entries: text.split(",").map((pair) => {
        const [key = "", value = ""] = pair.split("=");
        return { key, value };
      }),
      limit,
      hitsAddend: Math.abs(hits),
      isNegativeHits: hits < 0,
    })),
    hitsAddend: 0,
  };
}
