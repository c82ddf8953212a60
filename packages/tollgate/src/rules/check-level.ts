import { formatLocation } from "./diagnostic.ts";
import type { DraftDescriptor } from "./draft.ts";
import { covers, isPattern, overlap, type Pattern, parsePattern } from "./pattern.ts";
import type { Report } from "./report.ts";
import type { Location } from "./rule.ts";
import type { TextIdsBuilder } from "./text-ids-builder.ts";

/** Checks the rules of one level against each other, then the levels below. */
export function checkLevel(
  level: readonly DraftDescriptor[],
  above: Above | undefined,
  texts: TextIdsBuilder,
  report: Report,
): void {
  if (level.length > 1) {
    const siblings = new Siblings(above, texts);
    for (const one of level) siblings.add(one, report);
    siblings.finish(report);
  }
  for (const one of level)
    if (one.descriptors.length > 0) checkLevel(one.descriptors, { above, descriptor: one }, texts, report);
}

/** The part of a descriptor that a fault shows. */
type Named = Pick<DraftDescriptor, "key" | "value" | "at">;

/** The descriptors above a level, as a list. Only a fault needs them as a text. */
interface Above {
  readonly above: Above | undefined;
  readonly descriptor: Named;
}

function pathOf(above: Above | undefined): string {
  return above === undefined ? "" : `${pathOf(above.above)}${named(above.descriptor)}.`;
}

function named({ key, value }: Named): string {
  return value === undefined ? (key ?? "") : `${key}=${value}`;
}

/** The descriptors of one level and key. */
interface SameKey {
  /** The place of the first descriptor with each value, by the value's number; 0 for no value. */
  readonly first: Map<number, Location>;
  readonly patterns: Ranked[];
}

/** Compares the descriptors of one level. Keeps only what a later fault shows of each. */
export class Siblings {
  readonly #above: Above | undefined;
  readonly #texts: TextIdsBuilder;
  readonly #byKey = new Map<number, SameKey>();

  constructor(above: Above | undefined, texts: TextIdsBuilder) {
    this.#above = above;
    this.#texts = texts;
  }

  add({ key, value, at }: DraftDescriptor, report: Report): void {
    if (!key) return;
    const keyId = this.#texts.addUnsearched(key);
    let same = this.#byKey.get(keyId);
    if (same === undefined) {
      same = { first: new Map(), patterns: [] };
      this.#byKey.set(keyId, same);
    }
    const valueId = value === undefined ? 0 : this.#texts.addUnsearched(value);
    const known = same.first.get(valueId);
    if (known !== undefined) {
      const message = `duplicate descriptor \`${pathOf(this.#above)}${named({ key, value, at })}\`: the first is in ${formatLocation(known)}`;
      report.add("duplicate-descriptor", at, message);
      return;
    }
    same.first.set(valueId, at);
    if (isPattern(value))
      same.patterns.push({ pattern: parsePattern(value), descriptor: { key, value, at } });
  }

  /** Checks the wildcards. */
  finish(report: Report): void {
    for (const { first, patterns } of this.#byKey.values()) {
      checkPatterns(patterns, report);
      const at = first.get(0);
      const all = patterns.find(({ pattern }) => pattern.literals === 0);
      if (at !== undefined && all !== undefined)
        neverMatches({ key: all.descriptor.key, value: undefined, at }, all.descriptor, report);
    }
  }
}

type Ranked = { readonly pattern: Pattern; readonly descriptor: Named };

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

function neverMatches(hidden: Named, hiding: Named, report: Report): void {
  const message = `\`${named(hidden)}\` never matches: \`${named(hiding)}\` (${formatLocation(hiding.at)}) matches all of its values first`;
  report.add("never-matches", hidden.at, message);
}
