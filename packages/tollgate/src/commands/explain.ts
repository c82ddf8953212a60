import { describeLimits, type ExplainedWindow, type LimitExplanation } from "../decision/explain-limits.ts";
import { createKeyFormat } from "../decision/key-format.ts";
import { limitLines } from "../decision/limits-text.ts";
import { replaced } from "../decision/replaces.ts";
import { secondsUntilReset, windowStart } from "../decision/window.ts";
import type { Entry } from "../protocol/messages.ts";
import { unitNames, windowSeconds } from "../protocol/units.ts";
import { type Explanation, explainMatch } from "../rules/explain-match.ts";
import { renderExplanation } from "../rules/explain-text.ts";
import { loadRules } from "../rules/load-rules.ts";
import type { RuleSet } from "../rules/rule.ts";
import { hasColor } from "./check.ts";
import { readConfigurations } from "./check-files.ts";
import { diagnosticText } from "./check-format.ts";
import { EXPLAIN } from "./descriptions.ts";
import { docsOfDiagnostics } from "./docs-lines.ts";
import { type ExplainOptions, parseExplainOptions } from "./explain-options.ts";
import { UsageError } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { usageOf } from "./usage.ts";

/** The part of an explanation that does not depend on counters. */
interface OfflineExplanation extends Explanation {
  readonly hits: number;
  /** Whether another matching rule of the request replaces this rule, so that it does not count hits. */
  readonly replaced: boolean;
  readonly cacheKey?: string;
  readonly window?: ExplainedWindow;
  /** The limits of a rule that has several, or one with more than a number and a unit. */
  readonly limits?: readonly LimitExplanation[];
}

/**
 * `tollgate explain`: shows which rules match a request and why. Resolves with the exit status.
 * @param now milliseconds since the epoch, for the window
 */
export async function runExplain(argv: readonly string[], io: CommandIo, now = Date.now()): Promise<number> {
  try {
    const options = parseExplainOptions(argv);
    if (options.help) {
      io.stdout.write(usageOf(EXPLAIN));
      return 0;
    }
    const ruleSet = await load(options, io);
    if (ruleSet === undefined) return 1;
    const explanations = explainAll(ruleSet, options, Math.floor(now / 1000));
    const text = options.json
      ? JSON.stringify({ domain: options.domain, descriptors: explanations }, undefined, 2)
      : explanations.map(render).join("\n\n");
    io.stdout.write(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`tollgate explain: ${error.message}\nSee tollgate explain --help.\n`);
    return 2;
  }
}

async function load(options: ExplainOptions, io: CommandIo): Promise<RuleSet | undefined> {
  const [configuration] = await readConfigurations([options.config], io);
  const { files, diagnostics: ofDirectory } = configuration ?? { files: [], diagnostics: [] };
  const { ruleSet, diagnostics } = loadRules(files, options);
  const all = [...ofDirectory, ...diagnostics];
  // Shows errors only if there are no rules. `tollgate check` shows the warnings.
  const shown = ruleSet === undefined ? all.filter(({ severity }) => severity === "error") : ofDirectory;
  const lines = [...shown.map((one) => diagnosticText(one, hasColor(io))), ...docsOfDiagnostics(shown)];
  for (const line of lines) io.stderr.write(`${line}\n`);
  return ruleSet;
}

function explainAll(
  ruleSet: RuleSet,
  options: ExplainOptions,
  nowSeconds: number,
): readonly OfflineExplanation[] {
  const { domain, descriptors, hits } = options;
  const matches = descriptors.map((entries) => ruleSet.match(domain, entries));
  const dropped = replaced(matches.map((match) => match?.rule));
  return descriptors.map((entries, index) => {
    const explanation = explainMatch(ruleSet, domain, entries);
    return {
      ...explanation,
      hits,
      replaced: dropped[index] ?? false,
      ...counterOf(ruleSet, entries, options, nowSeconds),
    };
  });
}

function counterOf(
  ruleSet: RuleSet,
  entries: readonly Entry[],
  { domain, cacheKeyFormat: format, cacheKeyPrefix: prefix, backend }: ExplainOptions,
  nowSeconds: number,
): Pick<OfflineExplanation, "cacheKey" | "window" | "limits"> {
  const match = ruleSet.match(domain, entries);
  if (match === undefined || match.rule.unlimited) return {};
  const keyFormat = createKeyFormat({ format, prefix, backend });
  if (match.rule.limits !== undefined)
    return { limits: describeLimits(keyFormat, domain, entries, match, nowSeconds) };
  const { unit } = match.rule;
  const start = windowStart(nowSeconds, unit);
  return {
    cacheKey: `${keyFormat(domain, entries, match, unit)}${start}`,
    window: {
      unit: unitNames[unit],
      start,
      // The table has an entry for every unit.
      end: start + windowSeconds[unit]!,
      secondsUntilReset: secondsUntilReset(nowSeconds, unit),
    },
  };
}

function render(explanation: OfflineExplanation): string {
  const lines = [renderExplanation(explanation)];
  const { cacheKey, window } = explanation;
  if (explanation.replaced)
    lines.push("replaced   another matching rule of this request replaces it: not counted");
  else if (explanation.limits !== undefined)
    lines.push(...limitLines(explanation.limits), hitsLine(explanation));
  else if (cacheKey !== undefined && window !== undefined) {
    lines.push(`cache key  ${cacheKey}`);
    const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
    const ends = `ends in ${window.secondsUntilReset} s`;
    lines.push(`window     ${window.unit} ${time(window.start)} to ${time(window.end)}, ${ends}`);
    lines.push(hitsLine(explanation));
  }
  return lines.join("\n");
}

function hitsLine({ hits }: OfflineExplanation): string {
  return `hits       ${hits}${hits === 0 ? " (reads without counting)" : ""}`;
}
