import { MAX_NAME_UNITS } from "../observe/names.ts";
import type { Entry } from "../protocol/messages.ts";
import { isPattern, parsePattern } from "./pattern.ts";

/**
 * One segment of a metric key, determined when the rules are loaded. `text` is undefined if the segment consists of the
 * key and the request's value.
 */
export interface MetricLevel {
  readonly key: string;
  readonly text: string | undefined;
}

/** The parts of a descriptor that determine its segment. */
interface MetricParts {
  readonly key: string;
  readonly value: string | undefined;
  readonly detailedMetric: boolean;
  readonly valueToMetric: boolean;
  readonly shareThreshold: boolean;
}

/** Returns the segment of one level, according to its flags. */
export function metricLevel(descriptor: MetricParts): MetricLevel {
  const { key, value } = descriptor;
  const flagged = descriptor.detailedMetric || descriptor.valueToMetric;
  if (value === undefined) return { key, text: flagged ? undefined : key };
  if (!isPattern(value)) return { key, text: `${key}_${value}` };
  if (!flagged) return { key, text: `${key}_${value}` };
  return { key, text: descriptor.shareThreshold ? `${key}_${parsePattern(value).prefix}` : undefined };
}

/** Returns the segment of a request's entry. An empty value adds no underscore. */
export function requestSegment(entry: Entry): string {
  return entry.value === "" ? entry.key : `${entry.key}_${entry.value}`;
}

/**
 * Returns the segments of a metric key that its name can show. Names of statistics are cut, and 100 descriptors of 32
 * entries would create 3,200 texts that no name shows.
 */
export function shownLevels(count: number, segment: (index: number) => string): readonly string[] {
  const levels: string[] = [];
  let units = 0;
  for (let index = 0; index < count && units <= MAX_NAME_UNITS; index++) {
    const text = segment(index);
    levels.push(text);
    units += text.length + 1;
  }
  return levels;
}
