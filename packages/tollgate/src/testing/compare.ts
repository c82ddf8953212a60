import { formatLocation } from "../rules/diagnostic.ts";
import { nearest } from "../rules/nearest.ts";
import type { Rule, RuleSet } from "../rules/rule.ts";
import { ruleKey } from "../simulate/rule-key.ts";
import type { ExpectedStatus, RequestStep } from "./test-file.ts";

/** The expectation that no rule matches. */
export const NO_RULE = "none";
/** The greatest uint32, which an unlimited rule answers. */
const UNLIMITED_REMAINING = 0xffff_ffff;

/** The answer to one descriptor. */
export interface ActualStatus {
  readonly code: string;
  readonly rule: Rule | undefined;
  readonly remaining: number;
  /** Seconds; 0 if there is no reset. */
  readonly reset: number;
}

/** One line of a failure: the expected and the actual value. */
export interface Line {
  readonly name: string;
  /** Undefined if nothing was expected. */
  readonly expected: string | undefined;
  readonly actual: string;
  /** An explanation of the actual value. */
  readonly note?: string | undefined;
}

/** The lines of the whole request, or of one of its descriptors. */
export interface Comparison {
  /** The descriptor, from 0; undefined for the request. */
  readonly descriptor: number | undefined;
  readonly lines: readonly Line[];
}

/**
 * Compares an answer with a step's expectation.
 * @param isLast whether it is the last of the repeated requests
 */
export function compare(
  { expect, request }: RequestStep,
  code: string,
  actual: readonly ActualStatus[],
  isLast: boolean,
  ruleSet: RuleSet,
): readonly Comparison[] {
  const whole: Line = { name: "code", expected: expect.code, actual: code };
  if (request.descriptors.length === 1) {
    const [line, ...lines] = linesOf(expect.descriptors[0], actual[0]!, isLast, ruleSet);
    const isCodeOfDescriptor = line!.expected !== undefined || line!.actual !== code;
    return [{ descriptor: undefined, lines: [whole, ...(isCodeOfDescriptor ? [line!] : []), ...lines] }];
  }
  const each = actual.map((status, descriptor) => ({
    descriptor,
    lines: linesOf(expect.descriptors[descriptor], status, isLast, ruleSet),
  }));
  return [{ descriptor: undefined, lines: [whole] }, ...each];
}

export function hasDifference({ lines }: Comparison): boolean {
  return lines.some(isDifferent);
}

export function isDifferent({ expected, actual }: Line): boolean {
  return expected !== undefined && expected !== actual;
}

function linesOf(
  expected: ExpectedStatus | undefined,
  actual: ActualStatus,
  isLast: boolean,
  ruleSet: RuleSet,
): readonly Line[] {
  const last = isLast ? expected : undefined;
  const rule = actual.rule === undefined ? NO_RULE : ruleKey(actual.rule);
  return [
    { name: "code", expected: expected?.code, actual: actual.code },
    {
      name: "rule",
      expected: expected?.rule,
      actual: rule,
      note: noteOf(expected?.rule, actual.rule, ruleSet),
    },
    {
      name: "remaining",
      expected: last?.remaining?.toString(),
      actual: actual.remaining === UNLIMITED_REMAINING ? "unlimited" : String(actual.remaining),
    },
    { name: "reset", expected: last?.reset?.toString(), actual: String(actual.reset) },
  ];
}

/** Names the place of the rule. If the expected rule does not exist, also names the most similar one. */
function noteOf(expected: string | undefined, rule: Rule | undefined, ruleSet: RuleSet): string | undefined {
  const place = rule?.location === undefined ? undefined : formatLocation(rule.location);
  const actual = rule === undefined ? NO_RULE : ruleKey(rule);
  if (expected === undefined || expected === NO_RULE || expected === actual) return place;
  const known = Array.from(ruleSet.rules(), ruleKey);
  if (known.includes(expected)) return place;
  const near = nearest(expected, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `${place === undefined ? "" : `${place}; `}the configuration has no rule ${expected}${hint}`;
}
