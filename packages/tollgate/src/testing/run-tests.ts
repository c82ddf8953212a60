/** Runs the tests of one file against a rule set. Each test starts with empty counters at its own time. */
import { Code, type RateLimitResponse } from "../protocol/messages.ts";
import { codeNames } from "../protocol/units.ts";
import type { Location, Rule, RuleSet } from "../rules/rule.ts";
import { Simulation, type SimulationSettings } from "../simulate/simulation.ts";
import { type ActualStatus, type Comparison, compare, hasDifference } from "./compare.ts";
import type { LimitTest, RequestStep, TestFile } from "./test-file.ts";

/** Enough for more counters than a test has. The system commits memory only for those that exist. */
const STORE_BYTES = 16 * 1024 ** 2;

export interface TestResult {
  readonly name: string;
  readonly at: Location;
  readonly milliseconds: number;
  /** Undefined if the test passed. A test ends at its first failure. */
  readonly failure: Failure | undefined;
}

/** A step whose answer differs from its expectation. */
export interface Failure {
  readonly at: Location;
  /** The number of the step, from 1. */
  readonly step: number;
  /** The number of the repeated request, from 1. */
  readonly repetition: number;
  readonly request: RequestStep;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly comparisons: readonly Comparison[];
}

export function runTests({ tests, settings }: TestFile, ruleSet: RuleSet): readonly TestResult[] {
  return tests.map((test) => {
    const begin = performance.now();
    const failure = runTest(test, ruleSet, settings);
    return { name: test.name, at: test.at, milliseconds: performance.now() - begin, failure };
  });
}

function runTest(test: LimitTest, ruleSet: RuleSet, settings: SimulationSettings): Failure | undefined {
  const simulation = new Simulation(ruleSet, settings, test.start, STORE_BYTES);
  const { clock } = simulation;
  for (const [index, step] of test.steps.entries()) {
    if (step.kind === "advance") {
      clock.moveTo(step.to ?? clock.now + (step.by ?? 0));
      continue;
    }
    const prepared = simulation.prepare(step.request);
    for (let repetition = 1; repetition <= step.repeat; repetition++) {
      const response = simulation.decide(prepared);
      const actual = statusesOf(
        response,
        prepared.parts.map(({ resolution }) => resolution),
      );
      const code = codeNames[response.overallCode];
      const comparisons = compare(step, code, actual, repetition === step.repeat, ruleSet);
      if (!comparisons.some(hasDifference)) continue;
      return { at: step.at, step: index + 1, repetition, request: step, time: clock.now, comparisons };
    }
  }
  return undefined;
}

function statusesOf(
  { statuses }: RateLimitResponse,
  parts: readonly { readonly rule: Rule | undefined }[],
): readonly ActualStatus[] {
  return statuses.map(({ code, limitRemaining, durationUntilReset }, index) => ({
    code: codeNames[code] ?? codeNames[Code.UNKNOWN],
    rule: parts[index]!.rule,
    remaining: limitRemaining,
    reset: durationUntilReset,
  }));
}
