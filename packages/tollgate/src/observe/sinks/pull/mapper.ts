import type { RE2JS } from "re2js";
import type { Tag } from "../../names.ts";
import { defaultMapping } from "./default-mapping.ts";
import type { MapperFile, MapperRule } from "./mapper-file.ts";
import { labelName, type Mapped, type Mapping, type Subject } from "./mapping.ts";

/** Metrics of the process and its runtime. Every Prometheus client has them under the same names. */
const ofProcess = /^ratelimit\.(process|nodejs)\./;

/**
 * The mapping of a file (`PULLSTATS_MAPPER_YAML`). The first rule that matches a statistic's name applies. Metrics of the
 * process that no rule matches have the same names as without a file.
 */
export function fileMapping(file: MapperFile): Mapping {
  const unmapped = defaultMapping();
  return (subject) => {
    const parts = subject.name.split(".");
    for (const rule of file.rules) {
      if (rule.kind !== undefined && rule.kind !== subject.kind) continue;
      const captures = isGlob(rule.match)
        ? matchGlob(rule.match, parts)
        : matchExpression(rule.match, subject.name);
      if (captures !== undefined) return rule.drop ? undefined : apply(rule, captures, subject);
    }
    if (ofProcess.test(subject.name)) return unmapped(subject);
    return {
      metric: validMetric(subject.name),
      labels: subject.tags.map(({ key, value }) => ({ key: labelName(key), value })).filter(isFirst),
      help: `Tollgate's statistic ${subject.name}.`,
      scale: 1,
      observer: file.observer,
      ttl: file.ttl,
    };
  };
}

/** Returns the text of `$1` or `$name`; undefined for an unknown reference. */
type Captures = (reference: string) => string | undefined;

function isGlob(match: MapperRule["match"]): match is readonly string[] {
  return Array.isArray(match);
}

function matchGlob(pattern: readonly string[], parts: readonly string[]): Captures | undefined {
  if (pattern.length !== parts.length) return undefined;
  const stars: string[] = [];
  for (const [i, expected] of pattern.entries()) {
    if (expected === "*") stars.push(parts[i]!);
    else if (expected !== parts[i]) return undefined;
  }
  return (reference) => stars[Number(reference) - 1];
}

function matchExpression(expression: RE2JS, name: string): Captures | undefined {
  const matcher = expression.matcher(name);
  if (!matcher.find()) return undefined;
  const groups: (string | null)[] = [];
  for (let i = 0; i <= matcher.groupCount(); i++) groups.push(matcher.group(i));
  const named = expression.namedGroups();
  return (reference) => {
    const index = /^\d+$/.test(reference) ? Number(reference) : named[reference];
    return index === undefined ? undefined : (groups[index] ?? "");
  };
}

function apply(rule: MapperRule, captures: Captures, subject: Subject): Mapped {
  const fill = isGlob(rule.match) ? fillGlob : fillExpression;
  const own = rule.labels.map(([key, template]) => ({ key, value: fill(template, captures) }));
  const tags = subject.tags.map(({ key, value }) => ({ key: labelName(key), value }));
  return {
    metric: validMetric(fill(rule.name, captures)),
    // honor_labels: the statistic's own labels win over the file's.
    labels: (rule.honorLabels ? [...tags, ...own] : [...own, ...tags]).filter(isFirst),
    help: rule.help === "" ? `Tollgate's statistic, mapped from ${nameOf(rule)}.` : rule.help,
    scale: rule.scale,
    observer: rule.observer,
    ttl: rule.ttl,
  };
}

/** In globs `$1_total` is `$1` followed by text. Unknown references are empty. */
function fillGlob(template: string, captures: Captures): string {
  return template.replace(/\$(?:\{(\d+)\}|(\d+))/g, (_, braced, bare) => captures(braced ?? bare) ?? "");
}

/** Expands as Go's regexp does: `$1_total` is the group `1_total`, `${1}_total` is group 1, `$$` is a dollar sign. */
function fillExpression(template: string, captures: Captures): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (written, braced, bare) =>
    written === "$$" ? "$" : (captures(braced ?? bare) ?? ""),
  );
}

function nameOf(rule: MapperRule): string {
  return isGlob(rule.match) ? rule.match.join(".") : rule.match.pattern();
}

function isFirst(tag: Tag, i: number, all: readonly Tag[]): boolean {
  return all.findIndex(({ key }) => key === tag.key) === i;
}

function validMetric(name: string): string {
  return name.replace(/[^a-zA-Z0-9_:]/g, "_").replace(/^(?=\d|$)/, "_");
}
