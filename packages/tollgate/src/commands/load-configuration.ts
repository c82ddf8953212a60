import type { LoadOptions } from "../rules/check-configs.ts";
import { loadRules } from "../rules/load-rules.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { hasColor } from "./check.ts";
import { readConfigurations } from "./check-files.ts";
import { diagnosticText } from "./check-format.ts";
import { docsOfDiagnostics } from "./docs-lines.ts";
import type { CommandIo } from "./io.ts";

/**
 * Loads a directory of `*.yaml` files, or one file. Prints its errors; `tollgate check` shows the warnings.
 * @returns undefined if there are errors
 * @throws {UsageError} if the path cannot be read
 */
export async function loadConfiguration(
  path: string,
  options: LoadOptions,
  io: CommandIo,
): Promise<IndexedRuleSet | undefined> {
  const [set] = await readConfigurations([path], io);
  const { ruleSet, diagnostics } = loadRules(set!.files, options);
  const errors = [...set!.diagnostics, ...diagnostics].filter(({ severity }) => severity === "error");
  const lines = [...errors.map((error) => diagnosticText(error, hasColor(io))), ...docsOfDiagnostics(errors)];
  for (const line of lines) io.stderr.write(`${line}\n`);
  return errors.length > 0 ? undefined : ruleSet;
}
