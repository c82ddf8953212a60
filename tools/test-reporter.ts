/**
 * Reporter for node:test: prints failures and a summary. Counts the tests that pass, but does not print them.
 *
 * A failure is printed when it happens, in one line, and at the end in full: file, name, error, and the end of what
 * its file wrote. The last lines are those of Node's own reporters (`ℹ tests 12`, `ℹ pass 12`, ...).
 */
import { relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { coverageTable } from "./coverage-table.ts";

/** Maximum characters that are printed of the output of one file's tests. */
const MAX_OUTPUT = 4000;
const PROGRESS_INTERVAL_MS = 60_000;

interface Failure {
  readonly file: string;
  /** Names of the enclosing suites and of the test; empty if the whole file failed. */
  readonly title: string;
  readonly error: Error;
}

export interface ReporterOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Directory to which the printed paths are relative. */
  readonly cwd: string;
}

/** @returns the text to print */
export async function* report(
  events: AsyncIterable<TestEvent>,
  { now, cwd }: ReporterOptions,
): AsyncGenerator<string> {
  const failures: Failure[] = [];
  const summary: string[] = [];
  const outputs = new Map<string, string>();
  /** Names of the suites and tests that enclose the current one, outermost first. */
  const names: string[] = [];
  let coverage = "";
  let passed = 0;
  let printedAt = now();

  for await (const event of events) {
    switch (event.type) {
      case "test:start":
        names.length = event.data.nesting;
        names.push(event.data.name);
        break;
      case "test:pass":
        if (event.data.details.type !== "suite") passed++;
        break;
      case "test:fail": {
        const { error } = event.data.details;
        // A suite with a failed test, or a test with a failed subtest.
        if (isFailure(error, "subtestsFailed")) break;
        const { name, nesting } = event.data;
        const file = resolve(cwd, event.data.file ?? name);
        const title = resolve(cwd, name) === file ? "" : [...names.slice(0, nesting), name].join(" > ");
        const failure = { file, title, error };
        failures.push(failure);
        printedAt = now();
        yield `✖ ${heading(failure, cwd)}\n`;
        break;
      }
      case "test:stdout":
      case "test:stderr": {
        const { message } = event.data;
        const file = resolve(cwd, event.data.file ?? "");
        outputs.set(file, ((outputs.get(file) ?? "") + message).slice(-MAX_OUTPUT));
        break;
      }
      case "test:coverage":
        coverage = coverageTable(event.data.summary.files, cwd);
        break;
      case "test:diagnostic":
        // Messages without a file belong to the summary.
        if (event.data.file === undefined && event.data.nesting === 0) summary.push(event.data.message);
        break;
    }
    if (now() - printedAt >= PROGRESS_INTERVAL_MS) {
      printedAt = now();
      yield `${passed} passed, ${failures.length} failed so far\n`;
    }
  }
  for (const failure of failures) {
    yield `\n✖ ${heading(failure, cwd)}\n${indent(explain(failure.error))}\n`;
  }
  for (const file of new Set(failures.map((failure) => failure.file))) {
    const output = outputs.get(file)?.trim();
    if (output) yield `\nend of what ${relative(cwd, file)} wrote:\n${indent(output)}\n`;
  }
  if (coverage !== "") yield `\n${coverage}\n`;
  yield `${failures.length > 0 ? "\n" : ""}${summary.map((line) => `ℹ ${line}\n`).join("")}`;
}

function isFailure(error: Error, type: string): boolean {
  return (error as { failureType?: unknown }).failureType === type;
}

function heading({ file, title }: Failure, cwd: string): string {
  const path = relative(cwd, file);
  return title === "" ? path : `${path}: ${title}`;
}

const runnerFrames = /\n +at [^\n]*node:(?:internal\/test_runner|async_hooks)[^\n{]*?( \{)?(?=\n|$)/g;

/** The cause, without the frames of Node's test runner. */
function explain(error: Error): string {
  const { exitCode, signal } = error as { exitCode?: number | null; signal?: string | null };
  if (signal) return `the process of the file ended with ${signal}`;
  if (exitCode) return `the process of the file ended with exit code ${exitCode}`;
  const { cause = error } = error;
  const text = typeof cause === "string" ? cause : inspect(cause);
  return text.replace(runnerFrames, "$1");
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter as the default export
export default async function* reporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  yield* report(events, { now: () => performance.now(), cwd: process.cwd() });
}
