/** A comparison as Markdown, for a comment on a pull request. */
import type { ChangedNames, ConfigurationDiff, OneSided, RuleName } from "../diff/diff.ts";
import { oneLine } from "../rules/one-line.ts";
import {
  byDirection,
  exampleText,
  INCOMPLETE,
  NO_LIMIT,
  ruleText,
  settingTexts,
  summaryOf,
} from "./diff-format.ts";

/** Rows of one table. A comment on GitHub has at most 65,536 characters. */
const MAX_ROWS = 50;

export function diffMarkdown(diff: ConfigurationDiff): string {
  const sections = [
    limitsTable(diff),
    table(
      "Requests that match another rule",
      ["request", "before", "now"],
      diff.rematched.map(({ before, now, example }) => [code(exampleText(example)), rule(before), rule(now)]),
    ),
    namesTable("Metric keys", diff.metricKeys),
    namesTable("Cache keys: these counters start at 0", diff.cacheKeys),
  ];
  const parts = ["## Rate limits", `${summaryOf(diff)}.`, ...sections.filter((section) => section !== "")];
  if (!diff.isComplete) parts.push(`> ${INCOMPLETE}`);
  return `${parts.join("\n\n")}\n`;
}

function limitsTable(diff: ConfigurationDiff): string {
  const changed = byDirection(diff).flatMap(([name, rules]) =>
    rules.map((change) => {
      const settings = settingTexts(change).map(code).join("<br>");
      const now =
        change.limitBefore === change.limitNow
          ? settings
          : [change.limitNow, settings].filter(Boolean).join("<br>");
      return [name, rule(change.now), change.limitBefore, now];
    }),
  );
  const oneSided = (name: string, { rule: own, limit }: OneSided) =>
    name === "added" ? [name, rule(own), "", limit] : [name, rule(own), limit, ""];
  return table(
    "Limits",
    ["", "rule", "before", "now"],
    [
      ...diff.added.map((one) => oneSided("added", one)),
      ...diff.removed.map((one) => oneSided("removed", one)),
      ...changed,
    ],
  );
}

function namesTable(title: string, names: readonly ChangedNames[]): string {
  const list = (all: readonly string[]) => all.map(code).join("<br>");
  return table(
    title,
    ["request", "before", "now"],
    names.map(({ before, now, example }) => [code(exampleText(example)), list(before), list(now)]),
  );
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = [head, head.map(() => "---"), ...rows.slice(0, MAX_ROWS)].map(line);
  if (rows.length > MAX_ROWS) lines.push("", `... and ${rows.length - MAX_ROWS} more`);
  return `### ${title}\n\n${lines.join("\n")}`;
}

function rule(name: RuleName | undefined): string {
  return name === undefined ? NO_LIMIT : code(ruleText(name));
}

/** Code in a cell of a table. More backticks than the text has delimit it. */
function code(text: string): string {
  const line = oneLine(text).replaceAll("|", "\\|");
  const longest = Math.max(0, ...Array.from(line.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${space}${line}${space}${fence}`;
}
