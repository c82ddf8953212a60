import { formatLocation } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { differenceOf, type FileResult, headingOf, totalsOf } from "../testing/report.ts";
import type { TestResult } from "../testing/run-tests.ts";
import { diagnosticText, number, paint, type Style } from "./check-format.ts";
import { docsOfDiagnostics } from "./docs-lines.ts";

const STYLES: Readonly<Record<string, Style>> = { "-": "green", "+": "red", " ": "dim" };

/** Formats the results for people: a line for each test, the failures in detail, and a summary. */
export function formatTests(files: readonly FileResult[], color: boolean): string {
  const lines: string[] = [];
  for (const { file, errors, results } of files) {
    lines.push(paint("bold", oneLine(file), color));
    for (const { name, failure } of results) {
      const verdict = failure === undefined ? paint("green", "ok    ", color) : paint("red", "FAILED", color);
      lines.push(`  ${verdict}  ${oneLine(name)}`);
    }
    for (const error of errors) lines.push(diagnosticText(error, color));
  }
  const failed = files.flatMap(({ results }) => results.filter(({ failure }) => failure !== undefined));
  for (const result of failed) lines.push("", ...failureLines(result, color));
  const pages = docsOfDiagnostics(files.flatMap(({ errors }) => errors));
  if (pages.length > 0) lines.push("", ...pages);
  const { tests, failed: count } = totalsOf(files);
  const summary = `${number(tests, "test")} in ${number(files.length, "file")}: ${count === 0 ? "passed" : `${count} failed`}`;
  lines.push("", paint(count === 0 ? "green" : "red", summary, color));
  return `${lines.join("\n")}\n`;
}

function failureLines({ name, failure }: TestResult, color: boolean): string[] {
  if (failure === undefined) return [];
  const place = paint("bold", formatLocation(failure.at), color);
  const lines = [`${place}: ${paint("red", oneLine(name), color)}`, `  ${headingOf(failure)}`];
  for (const { sign, text } of differenceOf(failure))
    lines.push(paint(STYLES[sign]!, `    ${sign} ${text}`.trimEnd(), color));
  lines.push(paint("dim", "    (- expected, + actual)", color));
  return lines;
}
