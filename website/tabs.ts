/**
 * Tabs in plain Markdown. A page has `<!-- tabs -->`, then parts that each begin with a line in bold, then `<!-- /tabs -->`.
 * GitHub shows the parts below each other. The site shows the bold lines as tabs.
 */
const GROUP = /^<!-- tabs -->\n([\s\S]*?)^<!-- \/tabs -->$/gm;
const IMPORT = 'import { Tab, Tabs } from "@rspress/core/theme";\n\n';

export function hasTabs(page: string): boolean {
  return page.includes("<!-- tabs -->\n");
}

/** The page with the generator's components for its tabs. */
export function withTabs(page: string): string {
  return hasTabs(page) ? IMPORT + page.replaceAll(GROUP, (_, parts: string) => groupOf(parts)) : page;
}

function groupOf(parts: string): string {
  const tabs: { readonly label: string; readonly lines: string[] }[] = [];
  let inCode = false;
  for (const line of parts.split("\n")) {
    if (line.startsWith("```")) inCode = !inCode;
    const label = inCode ? undefined : /^\*\*(.+)\*\*$/.exec(line)?.[1];
    if (label !== undefined) tabs.push({ label, lines: [] });
    else if (tabs.length > 0) tabs.at(-1)!.lines.push(line);
    else if (line !== "") throw new Error(`a group of tabs begins with "${line}", not with a line in bold`);
  }
  const shown = tabs.map(
    ({ label, lines }) => `<Tab label="${label}">\n\n${lines.join("\n").trim()}\n\n</Tab>`,
  );
  return `<Tabs>\n${shown.join("\n")}\n</Tabs>`;
}
