import { formatDiagnostic, formatLocation } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { differenceOf, type FileResult, headingOf, totalsOf } from "./report.ts";
import type { TestResult } from "./run-tests.ts";

/** Formats results as JUnit XML. Each file is a test suite. */
export function formatJunit(files: readonly FileResult[]): string {
  const { tests, failed } = totalsOf(files);
  const broken = files.filter(({ errors }) => errors.length > 0).length;
  const suites = files.map(suiteOf).join("");
  const counts = `tests="${tests}" failures="${failed - broken}" errors="${broken}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="tollgate" ${counts}>\n${suites}</testsuites>\n`;
}

function suiteOf({ file, errors, results }: FileResult): string {
  const failures = results.filter(({ failure }) => failure !== undefined).length;
  const isBroken = errors.length > 0;
  const tests = results.length + (isBroken ? 1 : 0);
  const time = seconds(results.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  const counts = `tests="${tests}" failures="${failures}" errors="${isBroken ? 1 : 0}" time="${time}"`;
  const error = isBroken ? errorOf(file, errors.map(formatDiagnostic)) : "";
  const cases = results.map((result) => caseOf(file, result)).join("");
  return `  <testsuite name="${escaped(file)}" ${counts}>\n${error}${cases}  </testsuite>\n`;
}

function errorOf(file: string, errors: readonly string[]): string {
  const name = `name="the files can be read" classname="${escaped(file)}"`;
  const error = `<error message="${escaped(errors[0]!)}">${escaped(errors.join("\n"))}</error>`;
  return `    <testcase ${name}>\n      ${error}\n    </testcase>\n`;
}

function caseOf(file: string, { name, at, milliseconds, failure }: TestResult): string {
  const attributes = `name="${escaped(name)}" classname="${escaped(file)}" file="${escaped(file)}" line="${at.line}" time="${seconds(milliseconds)}"`;
  if (failure === undefined) return `    <testcase ${attributes}/>\n`;
  const difference = differenceOf(failure).map(({ sign, text }) => `${sign} ${text}`);
  const text = [formatLocation(failure.at), ...difference].join("\n");
  return `    <testcase ${attributes}>\n      <failure message="${escaped(headingOf(failure))}">${escaped(text)}</failure>\n    </testcase>\n`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML 1.0 has no control characters and no lone surrogates, not even as references. */
function escaped(text: string): string {
  const lines = text.split("\n").map(oneLine).join("\n").toWellFormed();
  return lines.replace(/[&<>"]/g, (character) => ENTITIES[character]!).replace(/[\uFFFE\uFFFF]/g, "\uFFFD");
}
