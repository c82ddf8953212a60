import type { Diagnostic } from "../rules/diagnostic.ts";
import { loadRules } from "../rules/load-rules.ts";
import { type ConfigurationSet, readConfigurations } from "./check-files.ts";
import { type CheckResult, formatCheck } from "./check-format.ts";
import { type CheckOptions, parseCheckOptions } from "./check-options.ts";
import { CHECK } from "./descriptions.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { usageOf } from "./usage.ts";

/** `tollgate check`: prints errors and warnings of configurations. Resolves with the exit status. */
export async function runCheck(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const options = parseCheckOptions(argv);
    if (options.help) {
      io.stdout.write(usageOf(CHECK));
      return 0;
    }
    const result = checkAll(await readConfigurations(options.paths, io), options);
    io.stdout.write(formatCheck(result, options.format, hasColor(io)));
    return result.diagnostics.some(({ severity }) => severity === "error") ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate check: ${error.message}\nSee tollgate check --help.\n`);
    return 2;
  }
}

function checkAll(sets: readonly ConfigurationSet[], options: CheckOptions): CheckResult {
  const diagnostics: Diagnostic[] = [];
  let files = 0;
  let domains = 0;
  let rules = 0;
  for (const set of sets) {
    const { ruleSet, diagnostics: found } = loadRules(set.files, options);
    diagnostics.push(...set.diagnostics, ...found);
    files += set.files.length;
    domains += ruleSet?.domains.length ?? 0;
    rules += ruleSet === undefined ? 0 : [...ruleSet.rules()].length;
  }
  const strict = diagnostics.map((one): Diagnostic => ({ ...one, severity: "error" }));
  return { diagnostics: options.strict ? strict : diagnostics, files, domains, rules };
}

/** Whether standard output is a terminal and the user has not disabled color (https://no-color.org). */
export function hasColor({ stdout, env }: CommandIo): boolean {
  return stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}
