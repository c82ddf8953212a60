import assert from "node:assert/strict";
import type { Entry } from "../../src/protocol/messages.ts";
import { formatDiagnostic } from "../../src/rules/diagnostic.ts";
import { type LoadResult, loadRules } from "../../src/rules/load-rules.ts";
import type { Match } from "../../src/rules/rule.ts";
import type { IndexedRuleSet } from "../../src/rules/rule-set.ts";

/** Loads one file with the name `rules.yaml`. */
export function load(text: string): LoadResult {
  return loadRules([{ name: "rules.yaml", text }], { mergeDomains: false });
}

/** Returns the rules of a text that must be valid. */
export function rulesOf(text: string): IndexedRuleSet {
  const { ruleSet, diagnostics } = load(text);
  assert.ok(ruleSet !== undefined, diagnostics.map(formatDiagnostic).join("\n"));
  return ruleSet;
}

/** Returns `line:column severity code` of each diagnostic. */
export function faultsOf(text: string): readonly string[] {
  return load(text).diagnostics.map(({ location, severity, code }) => {
    return `${location.line}:${location.column} ${severity} ${code}`;
  });
}

/** Parses `a=b,c=` to entries. Values may contain `=` but no `,`. */
export function entriesOf(descriptor: string): readonly Entry[] {
  if (descriptor === "") return [];
  return descriptor.split(",").map((pair) => {
    const at = pair.indexOf("=");
    return { key: pair.slice(0, at), value: pair.slice(at + 1) };
  });
}

export function metricKeyOf(match: Match | undefined): string | undefined {
  return match && [match.metricKey.domain, ...match.metricKey.levels].join(".");
}
