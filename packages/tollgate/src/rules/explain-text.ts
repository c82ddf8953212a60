import { ruleLine } from "./dump.ts";
import type { Explanation } from "./explain-match.ts";
import { oneLine } from "./one-line.ts";

const marks = { matched: "yes", "not matched": "no ", "not tried": "-  " };

/** Renders an explanation as lines of text, without a line end after the last. */
export function renderExplanation(explanation: Explanation): string {
  const { domain, entries, levels } = explanation;
  const descriptor = entries.map(({ key, value }) => `${key}=${value}`).join(",");
  const lines = [`domain     ${domain}`, `descriptor ${descriptor === "" ? "(no entries)" : descriptor}`];
  for (const [index, { entry, tried }] of levels.entries()) {
    lines.push(`  level ${index + 1}: ${entry.key}=${entry.value}`);
    for (const { what, result, why, location } of tried) {
      const where = location === undefined ? "" : `  (${location})`;
      lines.push(`    ${marks[result]}  ${what}  ${why}${where}`);
    }
  }
  lines.push(`result     ${explanation.summary}`);
  if (explanation.rule !== undefined) lines.push(`rule       ${ruleLine(explanation.rule)}`);
  if (explanation.metricKey !== undefined) lines.push(`metric key ${explanation.metricKey}`);
  for (const note of explanation.notes) lines.push(`note       ${note}`);
  // Keys and values come from a request. They must not break a line or control a terminal.
  return lines.map(oneLine).join("\n");
}
