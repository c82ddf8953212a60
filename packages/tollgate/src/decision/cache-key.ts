import type { Entry, Unit } from "../protocol/messages.ts";
import { unitNames } from "../protocol/units.ts";
import type { Match } from "../rules/rule.ts";

// The key's own separators, the hash tag braces of a cluster, and what a store's text protocol cannot carry.
const reserved = /[%|={}\s\p{Cc}]/u;
const reservedAll = new RegExp(reserved.source, "gu");

/** A domain, key or value as it stands in a cache key: two different texts never look the same there. */
export function encodeKeyPart(text: string): string {
  if (!reserved.test(text)) return text;
  return text.replace(reservedAll, (character) => {
    // encodeURIComponent gives the UTF-8 bytes, but leaves no reserved character of ours unescaped.
    return encodeURIComponent(character);
  });
}

/**
 * A counter's cache key without its window start: `<prefix><domain>|<key>=<value>|...|<unit>:`.
 * At a level under `share_threshold` the pattern stands in for the value.
 */
export function cacheKeyStem(
  prefix: string,
  domain: string,
  entries: readonly Entry[],
  match: Pick<Match, "sharedValues">,
  unit: Unit,
): string {
  let stem = `${prefix}${encodeKeyPart(domain)}|`;
  const shared = match.sharedValues;
  for (let index = 0; index < entries.length; index++) {
    const { key, value } = entries[index]!;
    stem += `${encodeKeyPart(key)}=${encodeKeyPart(shared?.[index] ?? value)}|`;
  }
  return `${stem}${unitNames[unit].toLowerCase()}:`;
}
