/** Values that represent the values which a level of rules distinguishes. */
import { bySpecificity, overlap, type Pattern, parsePattern } from "../rules/pattern.ts";

/** Texts that replace a `*`, or a value that no rule names. Most readable first. */
const FILLERS = ["x", "1", "example", "other-value", ""];
/** Pairs of wildcards of one level whose common values are tried. */
const MAX_PAIRS = 100_000;

/** The rules of one level and key. */
export interface LevelValues {
  readonly exact: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  readonly hasKeyOnly: boolean;
}

export interface Samples {
  readonly values: ReadonlySet<string>;
  /** False if there are too many pairs of wildcards to try all. */
  readonly isComplete: boolean;
}

/** The values to try for one key of a level, whose rules differ in two configurations. */
export function samplesOf(before: LevelValues, now: LevelValues): Samples {
  const values = new Set<string>([...before.exact, ...now.exact]);
  const patterns = [...new Set([...before.patterns, ...now.patterns])].map(parsePattern);
  for (const pattern of patterns) for (const filler of FILLERS) values.add(fill([pattern], filler));
  const isComplete = addCommonValues(before.patterns, now.patterns, values);
  // A value that no rule names, if there is one.
  if (before.hasKeyOnly || now.hasKeyOnly) for (const filler of FILLERS) values.add(filler);
  return { values, isComplete };
}

/**
 * Adds values that a wildcard of each configuration matches. Two wildcards that both configurations have change places
 * only if they are equally specific and their order changed.
 */
function addCommonValues(
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
  values: Set<string>,
): boolean {
  const removed = without(before, now).map(parsePattern);
  const added = without(now, before).map(parsePattern);
  const kept = [...before].filter((text) => now.has(text)).map(parsePattern);
  let left = MAX_PAIRS;
  function addPairs(
    olds: readonly Pattern[],
    news: readonly Pattern[],
    isPossible: (old: Pattern, one: Pattern) => boolean,
  ): boolean {
    for (const old of olds)
      for (const one of news) {
        if (old === one || !isPossible(old, one)) continue;
        if (left-- <= 0) return false;
        if (!overlap(old, one)) continue;
        for (const filler of FILLERS) values.add(fill([old, one], filler));
      }
    return true;
  }
  const always = () => true;
  const orderNow = [...now].filter((text) => before.has(text));
  const isReordered = kept.some(({ text }, index) => text !== orderNow[index]);
  return (
    addPairs(removed, [...kept, ...added], always) &&
    addPairs(kept, added, always) &&
    (!isReordered || addPairs(kept, kept, (old, one) => bySpecificity(old, one) === 0))
  );
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] {
  return [...all].filter((text) => !others.has(text));
}

/** A value that overlapping patterns match. */
function fill(patterns: readonly Pattern[], filler: string): string {
  const prefix = longest(patterns.map((one) => one.prefix));
  const suffix = longest(patterns.map((one) => one.suffix));
  const middles = patterns.flatMap((one) => one.middles);
  return [prefix, ...middles, suffix].join(filler);
}

function longest(texts: readonly string[]): string {
  return texts.reduce((a, b) => (b.length > a.length ? b : a));
}
