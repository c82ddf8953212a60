import type { JsonObject } from "../protocol/messages.ts";
import { Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import { formatLocation } from "./diagnostic.ts";
import type { Limit } from "./limit.ts";
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
  /** Further settings of a single limit. */
  readonly unit_multiplier?: number;
  readonly algorithm?: string;
  readonly burst?: number;
  readonly count?: string;
  readonly strict?: true;
  readonly reservations?: true;
  readonly calendar?: CalendarDescription;
  /** The limits of a list. `unit` and `requests_per_unit` are those of the first. */
  readonly rate_limits?: readonly LimitDescription[];
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

type LimitDescription = Pick<
  RuleDescription,
  | "unit"
  | "requests_per_unit"
  | "unit_multiplier"
  | "algorithm"
  | "burst"
  | "count"
  | "strict"
  | "reservations"
  | "calendar"
  | "name"
>;

export interface CalendarDescription {
  readonly time_zone: string;
  readonly week_starts?: string;
}

function settingsOf(limit: Limit) {
  const { unit, multiplier, algorithm, burst, acceptedOnly, strict, calendar, isListed } = limit;
  const { reservations } = limit;
  const isFixed = algorithm === "fixed_window";
  return {
    ...(multiplier !== 1 && { unit_multiplier: multiplier }),
    ...(!isFixed && { algorithm }),
    ...(algorithm === "token_bucket" && { burst }),
    ...(isFixed && acceptedOnly && !isListed && { count: "accepted" }),
    ...(strict && { strict: true as const }),
    ...(reservations && { reservations: true as const }),
    ...(calendar !== undefined && {
      calendar: {
        time_zone: calendar.timeZone,
        ...(unit === Unit.WEEK && { week_starts: calendar.weekStarts }),
      },
    }),
  };
}

function limitsOf(limits: readonly Limit[] | undefined): Partial<RuleDescription> {
  if (limits === undefined) return {};
  if (!limits[0]!.isListed) return settingsOf(limits[0]!);
  return {
    rate_limits: limits.map((limit) => ({
      unit: unitNames[limit.unit],
      requests_per_unit: limit.requestsPerUnit,
      ...settingsOf(limit),
      ...(limit.name !== "" && { name: limit.name }),
    })),
  };
}

export function describeRule(rule: Rule): RuleDescription {
  return {
    key: [rule.domain, ...rule.path].join("."),
    unit: unitNames[rule.unit],
    requests_per_unit: rule.requestsPerUnit,
    shadow_mode: rule.shadowMode,
    quota_mode: rule.quotaMode,
    ...limitsOf(rule.limits),
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
