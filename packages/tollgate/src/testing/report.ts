/** The results of all test files, and what the formats of the output have in common. */
import type { Diagnostic } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { isDifferent } from "./compare.ts";
import type { Failure, TestResult } from "./run-tests.ts";
import type { RequestStep } from "./test-file.ts";
import { instantText } from "./time-text.ts";

export interface FileResult {
  /** The path, as the user wrote it. */
  readonly file: string;
  /** Errors of the test file or of its configuration. Its tests did not run then. */
  readonly errors: readonly Diagnostic[];
  readonly results: readonly TestResult[];
}

export interface Totals {
  readonly tests: number;
  /** Failed tests, and files with errors. */
  readonly failed: number;
}

export function totalsOf(files: readonly FileResult[]): Totals {
  const results = files.flatMap((file) => file.results);
  const broken = files.filter(({ errors }) => errors.length > 0).length;
  return {
    tests: results.length + broken,
    failed: results.filter(({ failure }) => failure !== undefined).length + broken,
  };
}

/** The request of a failure, with its place in the test, on one line. */
export function headingOf({ step, repetition, request, time }: Failure): string {
  const which = request.repeat > 1 ? `, request ${repetition} of ${request.repeat}` : "";
  return `step ${step}${which}, at ${instantText(time)}: ${requestText(request)}`;
}

function requestText({ request: { domain, descriptors } }: RequestStep): string {
  const texts = descriptors.map(({ entries, hitsAddend, isNegativeHits, limit }) => {
    const text = entries.map(({ key, value }) => `${key}=${value}`).join(",");
    const hits = hitsAddend === undefined ? "" : ` hits: ${hitsAddend}`;
    const own = limit === undefined ? "" : ` limit: ${limit.requestsPerUnit}`;
    return `${text}${hits}${isNegativeHits ? " refund" : ""}${own}`;
  });
  return oneLine(`${domain} ${texts.join(" | ")}`);
}

/** One line of the difference between the expected and the actual answer. */
export interface DifferenceLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** The expected answer with `-` and the actual answer with `+` where they differ. */
export function differenceOf({ comparisons }: Failure): readonly DifferenceLine[] {
  const width = 10;
  return comparisons.flatMap(({ descriptor, lines }) => {
    const title = { sign: " " as const, text: `descriptor ${(descriptor ?? 0) + 1}` };
    const indent = descriptor === undefined ? "" : "  ";
    const shown = lines.flatMap((line): DifferenceLine[] => {
      const name = `${indent}${line.name.padEnd(width)} `;
      const note = line.note === undefined ? "" : `  (${line.note})`;
      const actual = oneLine(`${name}${line.actual}${note}`);
      if (!isDifferent(line)) return [{ sign: " ", text: actual }];
      return [
        { sign: "-", text: oneLine(`${name}${line.expected}`) },
        { sign: "+", text: actual },
      ];
    });
    return descriptor === undefined ? shown : [title, ...shown];
  });
}
