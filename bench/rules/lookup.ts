import { loadRules } from "../../packages/tollgate/src/rules/load-rules.ts";
import type { RuleSet } from "../../packages/tollgate/src/rules/rule.ts";
import { fresh, nanoseconds, row, shuffled } from "./measure.ts";

const REQUESTS = 10_000;

/** Rules with 4 levels. `widths` is the number of values of each level. */
export function rulesText(widths: readonly number[], level = 0): string {
  const lines = level === 0 ? ["domain: d"] : [];
  const indent = "    ".repeat(level);
  lines.push(`${indent}descriptors:`);
  const width = widths[level] ?? 0;
  for (let value = 0; value < width; value++) {
    lines.push(`${indent}  - key: level_${level}`, `${indent}    value: value_${value}`);
    if (level === widths.length - 1) {
      lines.push(
        `${indent}    rate_limit:`,
        `${indent}      unit: minute`,
        `${indent}      requests_per_unit: 100`,
      );
    } else lines.push(rulesText(widths, level + 1));
  }
  return lines.join("\n");
}

export function load(text: string): RuleSet {
  const { ruleSet, diagnostics } = loadRules([{ name: "bench.yaml", text }], { mergeDomains: false });
  if (ruleSet === undefined) throw new Error(diagnostics[0]?.message);
  return ruleSet;
}

function requests(widths: readonly number[]): { key: string; value: string }[][] {
  const total = widths.reduce((product, width) => product * width, 1);
  const all = Array.from({ length: REQUESTS }, (_, number) => {
    let rest = number % total;
    return widths.map((width, level) => {
      const value = rest % width;
      rest = Math.floor(rest / width);
      return { key: fresh(`level_${level}`), value: fresh(`value_${value}`) };
    });
  });
  return shuffled(all);
}

/** Lookups that each match a rule. */
function lookups(widths: readonly number[]): () => void {
  const rules = load(rulesText(widths));
  const asked = requests(widths);
  return () => {
    let found = 0;
    for (const entries of asked) if (rules.match("d", entries) !== undefined) found++;
    if (found !== REQUESTS) throw new Error(`only ${found} lookups matched a rule`);
  };
}

/** Measures lookups. Budget: a lookup in 10,000 rules takes at most twice as long as in 10. */
export function runLookup(): void {
  const shapes = [
    [10, 1, 1, 1],
    [10, 10, 10, 10],
    [10_000, 1, 1, 1],
    [1, 1, 1, 10_000],
  ];
  const [few = 0, ...many] = nanoseconds(REQUESTS, shapes.map(lookups));
  row("a lookup through 4 levels, 10 rules", few, "ns");
  for (const [index, time] of many.entries()) {
    const name = `the same, 10,000 rules as ${shapes[index + 1]?.join(" x ")}`;
    row(name, time, "ns", `${(time / few).toFixed(2)} times 10 rules (budget: 2)`);
  }
}
