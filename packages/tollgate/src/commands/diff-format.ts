import type {
  ChangedNames,
  ChangedRule,
  ConfigurationDiff,
  Example,
  OneSided,
  Rematch,
  RuleName,
} from "../diff/diff.ts";
import { isEmpty } from "../diff/diff.ts";
import { formatLocation } from "../rules/diagnostic.ts";
import { oneLine } from "../rules/one-line.ts";
import { number, paint, type Style } from "./check-format.ts";

/** Entries of one part that the text shows. JSON has all. */
const MAX_SHOWN = 200;

export const NO_LIMIT = "(no limit)";
export const INCOMPLETE =
  "The configurations have very many overlapping wildcards or nested rules: some requests that match another rule may be missing.";

/** The parts of the list of changed rules, in the order of the report. */
export function byDirection({
  changed,
}: ConfigurationDiff): readonly (readonly [string, readonly ChangedRule[]])[] {
  const of = (...directions: readonly ChangedRule["direction"][]) =>
    changed.filter(({ direction }) => directions.includes(direction));
  return [
    ["raised", of("raised")],
    ["lowered", of("lowered")],
    ["changed", of("other", "same")],
  ];
}

/** One line that counts the changes. */
export function summaryOf(diff: ConfigurationDiff): string {
  if (isEmpty(diff)) return "no difference";
  const parts = [
    ["added", diff.added.length],
    ["removed", diff.removed.length],
    ...byDirection(diff).map(([name, rules]) => [name, rules.length] as const),
  ] as const;
  const limits = parts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
  const texts = limits.length > 0 ? [`limits: ${limits.join(", ")}`] : [];
  if (diff.rematched.length > 0)
    texts.push(`${number(diff.rematched.length, "kind")} of requests match another rule`);
  if (diff.metricKeys.length > 0) texts.push(`${number(diff.metricKeys.length, "change")} of metric keys`);
  if (diff.cacheKeys.length > 0) texts.push(`${number(diff.cacheKeys.length, "change")} of cache keys`);
  return texts.join("; ");
}

/** Formats a comparison for people. */
export function diffText(diff: ConfigurationDiff, color: boolean): string {
  const sections: (readonly [title: string, style: Style, lines: readonly string[][]])[] = [
    ["added", "green", diff.added.map(oneSidedLines)],
    ["removed", "red", diff.removed.map(oneSidedLines)],
    ...byDirection(diff).map(([name, rules]) => [name, "yellow" as Style, rules.map(changedLines)] as const),
    ["requests that match another rule", "yellow", diff.rematched.map(rematchLines)],
    ["metric keys that change", "cyan", diff.metricKeys.map(nameLines)],
    ["cache keys that change: these counters start at 0", "cyan", diff.cacheKeys.map(nameLines)],
  ];
  const lines: string[] = [];
  for (const [title, style, entries] of sections) {
    if (entries.length === 0) continue;
    lines.push(paint(style, title, color));
    for (const entry of entries.slice(0, MAX_SHOWN))
      lines.push(...entry.map((line, index) => `${index === 0 ? "  " : "      "}${line}`));
    if (entries.length > MAX_SHOWN)
      lines.push(`  ... and ${entries.length - MAX_SHOWN} more: -format json has all`);
    lines.push("");
  }
  if (!diff.isComplete) lines.push(INCOMPLETE, "");
  lines.push(summaryOf(diff));
  return `${lines.join("\n")}\n`;
}

function oneSidedLines({ rule, limit, example }: OneSided): string[] {
  const found = example === undefined ? "no request: other rules match first" : exampleText(example);
  return [`${ruleText(rule)}: ${limit}`, found];
}

function changedLines(change: ChangedRule): string[] {
  const { before, now, limitBefore, limitNow } = change;
  const limit = limitBefore === limitNow ? [] : [`${limitBefore} -> ${limitNow}`];
  return [`${before.key}${placeText(before, now)}`, ...limit, ...settingTexts(change)];
}

/** The changed settings that the texts of the limits do not show. */
export function settingTexts({ settings, limitBefore, limitNow }: ChangedRule): string[] {
  const isShown = (name: string) => limitBefore !== limitNow && IN_LIMIT_TEXT.has(name);
  return settings
    .filter(({ name }) => !isShown(name))
    .map(({ name, before = "not set", now = "not set" }) => oneLine(`${name}: ${before} -> ${now}`));
}

const IN_LIMIT_TEXT: ReadonlySet<string> = new Set([
  "unit",
  "requests_per_unit",
  "unit_multiplier",
  "algorithm",
  "burst",
  "unlimited",
  "shadow_mode",
  "quota_mode",
]);

function rematchLines({ before, now, example }: Rematch): string[] {
  return [exampleText(example), `${ruleText(before)} -> ${ruleText(now)}`];
}

function nameLines({ before, now, example }: ChangedNames): string[] {
  return [exampleText(example), oneLine(`${before.join(", ")} -> ${now.join(", ") || "none"}`)];
}

export function ruleText(rule: RuleName | undefined): string {
  if (rule === undefined) return NO_LIMIT;
  return oneLine(rule.location === undefined ? rule.key : `${rule.key} (${formatLocation(rule.location)})`);
}

function placeText({ location: before }: RuleName, { location: now }: RuleName): string {
  if (before === undefined || now === undefined) return "";
  return oneLine(` (${formatLocation(before)} -> ${formatLocation(now)})`);
}

/** A request as `explain` takes it: `domain key=value,key=value`. */
export function exampleText({ domain, entries }: Example): string {
  const text = entries.map(({ key, value }) => `${key}=${value.replaceAll(",", "\\,")}`).join(",");
  return oneLine(`${domain} ${text}`);
}

/** The comparison as data. */
export function diffJson(diff: ConfigurationDiff): object {
  const rule = (one: RuleName | undefined) =>
    one === undefined
      ? null
      : { key: one.key, ...(one.location !== undefined && { location: formatLocation(one.location) }) };
  const oneSided = ({ rule: own, limit, example }: OneSided) => ({
    rule: rule(own),
    limit,
    example: example ?? null,
  });
  const names = ({ before, now, example }: ChangedNames) => ({ before, now, example });
  return {
    summary: summaryOf(diff),
    is_complete: diff.isComplete,
    added: diff.added.map(oneSided),
    removed: diff.removed.map(oneSided),
    changed: diff.changed.map(({ before, now, limitBefore, limitNow, direction, settings }) => ({
      before: rule(before),
      now: rule(now),
      limit_before: limitBefore,
      limit_now: limitNow,
      direction,
      settings: settings.map(({ name, before: old, now: own }) => {
        return {
          name,
          before: old === undefined ? null : JSON.parse(old),
          now: own === undefined ? null : JSON.parse(own),
        };
      }),
    })),
    rematched: diff.rematched.map(({ before, now, example }) => ({
      before: rule(before),
      now: rule(now),
      example,
    })),
    metric_keys: diff.metricKeys.map(names),
    cache_keys: diff.cacheKeys.map(names),
  };
}
