import { formatLocation } from "./diagnostic.ts";
import type { DraftDescriptor } from "./draft.ts";
import { covers, isPattern, overlap, type Pattern, parsePattern } from "./pattern.ts";
import type { Report } from "./report.ts";

/** Checks the rules of one level against each other, then the levels below. */
export function checkLevel(
  level: readonly DraftDescriptor[],
  above: Above | undefined,
  report: Report,
): void {
  if (level.length > 1) {
    const byKey = Map.groupBy(
      level.filter((one) => one.key),
      (one) => one.key as string,
    );
    for (const siblings of byKey.values()) checkSiblings(siblings, above, report);
  }
  for (const one of level)
    if (one.descriptors.length > 0) checkLevel(one.descriptors, { above, descriptor: one }, report);
}

/** The descriptors above a level, as a list. Only a fault needs them as a text. */
interface Above {
  readonly above: Above | undefined;
  readonly descriptor: DraftDescriptor;
}

function pathOf(above: Above | undefined): string {
  return above === undefined ? "" : `${pathOf(above.above)}${named(above.descriptor)}.`;
}

function named(descriptor: DraftDescriptor): string {
  const { key, value } = descriptor;
  return value === undefined ? (key ?? "") : `${key}=${value}`;
}

function checkSiblings(siblings: readonly DraftDescriptor[], above: Above | undefined, report: Report): void {
  const first = new Map<string | undefined, DraftDescriptor>();
  const patterns: { pattern: Pattern; descriptor: DraftDescriptor }[] = [];
  for (const descriptor of siblings) {
    const known = first.get(descriptor.value);
    if (known !== undefined) {
      const message = `duplicate descriptor \`${pathOf(above)}${named(descriptor)}\`: the first is in ${formatLocation(known.at)}`;
      report.add("duplicate-descriptor", descriptor.at, message);
      continue;
    }
    first.set(descriptor.value, descriptor);
    if (isPattern(descriptor.value)) patterns.push({ pattern: parsePattern(descriptor.value), descriptor });
  }
  checkPatterns(patterns, report);
  const keyOnly = first.get(undefined);
  const all = patterns.find(({ pattern }) => pattern.literals === 0);
  if (keyOnly !== undefined && all !== undefined) neverMatches(keyOnly, all.descriptor, report);
}

type Ranked = { readonly pattern: Pattern; readonly descriptor: DraftDescriptor };

function checkPatterns(patterns: readonly Ranked[], report: Report): void {
  // Only patterns of equal rank can hide each other, and overlapping patterns of equal rank have equal prefixes.
  // Comparing only within these groups keeps a level of many wildcards cheap.
  const groups = Map.groupBy(patterns, ({ pattern }) => `${pattern.literals} ${pattern.prefix}`);
  for (const group of groups.values()) {
    if (group.length > 1) checkEqualRank(group, report);
  }
}

/** Maximum earlier patterns to compare with each pattern. The check is only a help and must not take long. */
const MAX_COMPARED = 200;
/** Maximum warnings for one group of patterns. */
const MAX_RIVALS = 10;

function checkEqualRank(group: readonly Ranked[], report: Report): void {
  const rivals: { readonly later: Ranked; readonly earlier: Ranked }[] = [];
  for (const [index, later] of group.entries()) {
    const before = group.slice(Math.max(0, index - MAX_COMPARED), index);
    const hiding = before.find(({ pattern }) => covers(pattern, later.pattern));
    const rival = before.find(({ pattern }) => overlap(pattern, later.pattern));
    if (hiding !== undefined) neverMatches(later.descriptor, hiding.descriptor, report);
    else if (rival !== undefined) rivals.push({ later, earlier: rival });
  }
  for (const [index, { later, earlier }] of rivals.entries()) {
    if (index === MAX_RIVALS) {
      const message = `${rivals.length - index} more wildcards after this line are as specific as an earlier one`;
      report.add("equal-wildcards", later.descriptor.at, message);
      return;
    }
    const where = formatLocation(earlier.descriptor.at);
    const message = `the wildcard "${later.pattern.text}" is as specific as "${earlier.pattern.text}" (${where}): their order decides for values that match both`;
    report.add("equal-wildcards", later.descriptor.at, message);
  }
}

function neverMatches(hidden: DraftDescriptor, hiding: DraftDescriptor, report: Report): void {
  const message = `\`${named(hidden)}\` never matches: \`${named(hiding)}\` (${formatLocation(hiding.at)}) matches all of its values first`;
  report.add("never-matches", hidden.at, message);
}
