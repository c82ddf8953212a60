import type { JsonObject } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import { formatLocation } from "./diagnostic.ts";
import { oneLine } from "./one-line.ts";
import type { Rule, RuleSet } from "./rule.ts";

/** A rule as `/rlconfig` and explanations show it, with the configuration's names and without unset fields. */
export interface RuleDescription {
  /** The domain and the levels, joined with dots. */
  readonly key: string;
  readonly unit: string;
  readonly requests_per_unit: number;
  readonly shadow_mode: boolean;
  readonly quota_mode: boolean;
  readonly unlimited?: true;
  readonly name?: string;
  readonly replaces?: readonly string[];
  readonly detailed_metric?: true;
  readonly value_to_metric?: true;
  readonly share_threshold?: true;
  readonly metadata?: JsonObject;
  /** `file:line:column`; absent for a request's own limit. */
  readonly location?: string;
}

export function describeRule(rule: Rule): RuleDescription {
  return {
    key: [rule.domain, ...rule.path].join("."),
    unit: unitNames[rule.unit],
    requests_per_unit: rule.requestsPerUnit,
    shadow_mode: rule.shadowMode,
    quota_mode: rule.quotaMode,
    ...(rule.unlimited && { unlimited: true }),
    ...(rule.name !== "" && { name: rule.name }),
    ...(rule.replaces.length > 0 && { replaces: rule.replaces }),
    ...(rule.detailedMetric && { detailed_metric: true }),
    ...(rule.valueToMetric && { value_to_metric: true }),
    ...(rule.shareThreshold && { share_threshold: true }),
    ...(rule.metadata && { metadata: rule.metadata }),
    ...(rule.location && { location: formatLocation(rule.location) }),
  };
}

/** Formats a rule on one line: `<full key>: unit=<UNIT> requests_per_unit=<n>, shadow_mode: <bool>, quota_mode: <bool>`. */
export function ruleLine(rule: RuleDescription): string {
  const { key, unit, requests_per_unit, shadow_mode, quota_mode, location: _, ...others } = rule;
  const parts = [
    `${oneLine(key)}: unit=${unit} requests_per_unit=${requests_per_unit}`,
    `shadow_mode: ${shadow_mode}`,
    `quota_mode: ${quota_mode}`,
  ];
  for (const [name, value] of Object.entries(others)) {
    parts.push(`${name}: ${typeof value === "string" ? oneLine(value) : JSON.stringify(value)}`);
  }
  return parts.join(", ");
}

/** Renders `/rlconfig` as text: a sorted line for each limit; empty if nothing is loaded. */
export function dumpText(ruleSet: RuleSet | undefined): string {
  return describe(ruleSet)
    .map((rule) => `${ruleLine(rule)}\n`)
    .join("");
}

/** `/rlconfig` as JSON. */
export interface ConfigurationDump {
  readonly domains: readonly string[];
  readonly rules: readonly RuleDescription[];
}

export function dumpJson(ruleSet: RuleSet | undefined): ConfigurationDump {
  return { domains: ruleSet?.domains ?? [], rules: describe(ruleSet) };
}

function describe(ruleSet: RuleSet | undefined): readonly RuleDescription[] {
  const rules = Array.from(ruleSet?.rules() ?? [], describeRule);
  return rules.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
