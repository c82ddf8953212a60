import { compareConfigurations, isEmpty } from "../diff/diff.ts";
import type { IndexedRuleSet } from "../rules/rule-set.ts";
import { hasColor } from "./check.ts";
import { DIFF } from "./descriptions.ts";
import { diffJson, diffText } from "./diff-format.ts";
import { diffMarkdown } from "./diff-markdown.ts";
import { type DiffOptions, parseDiffOptions } from "./diff-options.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { usageOf } from "./usage.ts";

/** `tollgate diff`: shows what changes between two configurations. Resolves with the exit status. */
export async function runDiff(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const options = parseDiffOptions(argv);
    if (options.help) {
      io.stdout.write(usageOf(DIFF));
      return 0;
    }
    const before = await loadConfiguration(options.before, options, io);
    const now = await loadConfiguration(options.now, options, io);
    if (before === undefined || now === undefined) return 1;
    return compare(before, now, options, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate diff: ${error.message}\nSee tollgate diff --help.\n`);
    return 2;
  }
}

function compare(before: IndexedRuleSet, now: IndexedRuleSet, options: DiffOptions, io: CommandIo): number {
  const diff = compareConfigurations(before, now);
  if (options.format === "json") io.stdout.write(`${JSON.stringify(diffJson(diff), undefined, 2)}\n`);
  else io.stdout.write(options.format === "markdown" ? diffMarkdown(diff) : diffText(diff, hasColor(io)));
  return options.check && !isEmpty(diff) ? 3 : 0;
}
