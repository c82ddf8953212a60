import { formatLocation } from "./diagnostic.ts";
import type { DraftDescriptor } from "./draft.ts";
import { covers, isPattern, overlap, type Pattern, parsePattern } from "./pattern.ts";
import type { Report } from "./report.ts";

/** Checks the rules of one level against each other, then the levels below. */
export function checkLevel(level: readonly DraftDescriptor[], path: string, report: Report): void {
  const byKey = Map.groupBy(
    level.filter((one) => one.key),
    (one) => one.key as string,
  );
  for (const siblings of byKey.values()) checkSiblings(siblings, path, report);
  for (const one of level) checkLevel(one.descriptors, `${path}${named(one)}.`, report);
}

function named(descriptor: DraftDescriptor): string {
  const { key, value } = descriptor;
  return value === undefined ? (key ?? "") : `${key}=${value}`;
}

function checkSiblings(siblings: readonly DraftDescriptor[], path: string, report: Report): void {
  const first = new Map<string | undefined, DraftDescriptor>();
  const patterns: { pattern: Pattern; descriptor: DraftDescriptor }[] = [];
  for (const descriptor of siblings) {
    const known = first.get(descriptor.value);
    if (known !== undefined) {
      const message = `a second descriptor \`${path}${named(descriptor)}\`: the first stands in ${formatLocation(known.at)}`;
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
  // Only patterns of equal rank, which have equal prefixes if they meet at all, can hide each other; comparing within
  // these groups keeps a level of many wildcards cheap.
  const groups = Map.groupBy(patterns, ({ pattern }) => `${pattern.literals} ${pattern.prefix}`);
  for (const group of groups.values()) {
    if (group.length > 1) checkEqualRank(group, report);
  }
}

/** So many earlier patterns are compared with each: the check is a help, and may not take long. */
const MAX_COMPARED = 200;
/** So many of one group are told one by one. */
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
      const message = `${rivals.length - index} more wildcards from here on are as specific as an earlier one`;
      report.add("equal-wildcards", later.descriptor.at, message);
      return;
    }
    const where = formatLocation(earlier.descriptor.at);
    const message = `the wildcard "${later.pattern.text}" is as specific as "${earlier.pattern.text}" (${where}): a value that matches both is decided by their order`;
    report.add("equal-wildcards", later.descriptor.at, message);
  }
}

function neverMatches(hidden: DraftDescriptor, hiding: DraftDescriptor, report: Report): void {
  const message = `\`${named(hidden)}\` never matches: \`${named(hiding)}\` (${formatLocation(hiding.at)}) comes before it for each of its values`;
  report.add("never-matches", hidden.at, message);
}
