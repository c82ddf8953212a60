/**
 * Bounds the memory of names that come from requests. `sanitise` and `cutParts` give every name its final form. The
 * parts that are left out here cannot change that form: two texts that differ only there have the same name.
 */
import { MAX_NAME_BYTES } from "./names.ts";
import type { MetricKey } from "./statistics.ts";
import { copyOf } from "./text-memory.ts";

/**
 * Each UTF-16 unit takes at least one byte of a name. An IPv4 address that begins within the bytes of a name may end
 * up to 14 units after them, and the whole address decides how its first digits are written.
 */
const MAX_UNITS = MAX_NAME_BYTES + 16;

/** Returns the part of `text` that its name depends on. The part is a copy and does not keep `text` alive. */
export function boundedText(text: string): string {
  return text.length <= MAX_UNITS ? text : copyOf(text, MAX_UNITS);
}

/** Returns the part of `key` that its name depends on; `key` itself if it is short. No part contains a NUL. */
export function boundedKey(key: MetricKey): MetricKey {
  const { domain, levels } = key;
  let units = domain.length;
  let hasNul = domain.includes("\0");
  for (let index = 0; index < levels.length && units <= MAX_UNITS; index++) {
    const level = levels[index]!;
    units += level.length + 1;
    hasNul ||= level.includes("\0");
  }
  return units <= MAX_UNITS && !hasNul ? key : bounded(key);
}

/** Whether the bounded form of a key lacks its end. Then it may be that of another key. */
export function isCut({ levels }: MetricKey, bounded: MetricKey): boolean {
  return (
    bounded.levels.length < levels.length ||
    (bounded.levels.at(-1) ?? "").length < (levels.at(-1) ?? "").length
  );
}

function bounded({ domain, levels, isLimit }: MetricKey): MetricKey {
  let left = MAX_UNITS;
  const parts: string[] = [];
  for (let index = 0; index <= levels.length && left >= 0; index++) {
    const part = index === 0 ? domain : levels[index - 1]!;
    const short = part.length <= left ? part : copyOf(part, left);
    // A name shows a NUL as `_`.
    parts.push(short.replaceAll("\0", "_"));
    left -= part.length + 1;
  }
  return { domain: parts[0]!, levels: parts.slice(1), ...(isLimit && { isLimit }) };
}

/** Joins a bounded key into one text. Only equal keys have equal texts. */
export function identityOf({ domain, levels }: MetricKey): string {
  let identity = domain;
  for (let index = 0; index < levels.length; index++) identity += `\0${levels[index]}`;
  return identity;
}
