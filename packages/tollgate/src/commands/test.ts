import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Diagnostic } from "../rules/diagnostic.ts";
import { loadRules } from "../rules/load-rules.ts";
import { diagnose } from "../sources/source.ts";
import { formatJunit } from "../testing/junit.ts";
import { readTestFile } from "../testing/read-tests.ts";
import { type FileResult, totalsOf } from "../testing/report.ts";
import { runTests } from "../testing/run-tests.ts";
import { formatTap } from "../testing/tap.ts";
import { hasColor } from "./check.ts";
import { readConfigurations, readOrThrow } from "./check-files.ts";
import { TEST } from "./descriptions.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { findTests } from "./test-files.ts";
import { formatTests } from "./test-format.ts";
import { parseTestOptions, type TestOptions } from "./test-options.ts";
import { type TestRun, watchTests } from "./test-watch.ts";
import { usageOf } from "./usage.ts";

/**
 * `tollgate test`: runs unit tests of limits. Resolves with the exit status.
 * @param signal ends `--watch`
 */
export async function runTest(argv: readonly string[], io: CommandIo, signal?: AbortSignal): Promise<number> {
  try {
    const options = parseTestOptions(argv);
    if (options.help) {
      io.stdout.write(usageOf(TEST));
      return 0;
    }
    if (options.watch) return await watchTests(() => runOnce(options, io), io, signal);
    return (await runOnce(options, io)).status;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate test: ${error.message}\nSee tollgate test --help.\n`);
    return 2;
  }
}

/** @throws {UsageError} if a path cannot be read */
async function runOnce(options: TestOptions, io: CommandIo): Promise<TestRun> {
  const found = findTests(options.paths, io.cwd);
  const directories = new Set(found.directories.map((one) => resolve(io.cwd, one)));
  const results: FileResult[] = [];
  for (const file of found.files) {
    directories.add(dirname(resolve(io.cwd, file)));
    results.push(await runFile(file, options, io, directories));
  }
  io.stdout.write(formatted(results, options, io));
  return { status: totalsOf(results).failed > 0 ? 1 : 0, directories };
}

function formatted(results: readonly FileResult[], { format }: TestOptions, io: CommandIo): string {
  if (format === "tap") return formatTap(results);
  return format === "junit" ? formatJunit(results) : formatTests(results, hasColor(io));
}

async function runFile(
  file: string,
  options: TestOptions,
  io: CommandIo,
  directories: Set<string>,
): Promise<FileResult> {
  const text = readOrThrow(file, io.cwd, () => readFileSync(resolve(io.cwd, file), "utf8"));
  const { file: tests, diagnostics } = readTestFile({ name: file, text });
  const broken = (errors: readonly Diagnostic[]) => ({ file, errors, results: [] });
  if (tests === undefined) return broken(onlyErrors(diagnostics));
  const config = options.config ?? join(dirname(file), tests.config ?? ".");
  directories.add(resolve(io.cwd, config));
  directories.add(dirname(resolve(io.cwd, config)));
  try {
    const [set] = await readConfigurations([config], io);
    const { ruleSet, diagnostics: faults } = loadRules(set!.files, tests.settings);
    const errors = onlyErrors([...set!.diagnostics, ...faults]);
    if (ruleSet === undefined || errors.length > 0) return broken(errors);
    return { file, errors: [], results: runTests(tests, ruleSet) };
  } catch (error) {
    if (!(error instanceof UsageError) || options.config !== undefined) throw error;
    return broken([diagnose("unreadable-file", file, `the configuration ${error.message}`)]);
  }
}

function onlyErrors(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === "error");
}
