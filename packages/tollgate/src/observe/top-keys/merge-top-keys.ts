import { type CountedKey, type CountedKeys, shorten } from "./key-counts.ts";
import type { CountedRule } from "./thread-top-keys.ts";
import type { RefusedKey, RuleTopKeys, TopKey } from "./top-keys.ts";

/** Adds up what threads have counted. The errors add up, too. */
export function mergeTopKeys(
  counted: readonly CountedRule[],
  n: number,
): { readonly rules: RuleTopKeys[]; readonly refused: RefusedKey[] } {
  const rules = Array.from(
    Map.groupBy(counted, ({ rule }) => rule),
    ([rule, parts]): RuleTopKeys => {
      const all = mergeKeys(parts.map((part) => part.all));
      const refused = mergeKeys(parts.map((part) => part.refused));
      return {
        rule,
        // The newest configuration comes last.
        file: parts.at(-1)!.file,
        hits: all.total,
        refused: refused.total,
        keys: shorten(all, n).keys.map(shown),
        refusedKeys: shorten(refused, n).keys.map(shown),
      };
    },
  ).sort((a, b) => b.refused - a.refused || b.hits - a.hits || (a.rule < b.rule ? -1 : 1));
  const refused = rules
    .flatMap(({ rule, file, refusedKeys }) => refusedKeys.map((key) => ({ rule, file, ...key })))
    .sort((a, b) => b.hits - a.hits || b.error - a.error)
    .slice(0, n);
  return { rules, refused };
}

function mergeKeys(parts: readonly CountedKeys[]): CountedKeys {
  if (parts.length === 1) return parts[0]!;
  const merged = new Map<number, CountedKey>();
  for (const { keys } of parts)
    for (const key of keys) if (!merged.has(key.hash)) merged.set(key.hash, { ...key, low: 0, high: 0 });
  for (const part of parts) {
    const listed = new Map(part.keys.map((key) => [key.hash, key]));
    for (const [hash, key] of merged) {
      const own = listed.get(hash);
      merged.set(hash, {
        ...key,
        low: key.low + (own?.low ?? 0),
        high: key.high + (own?.high ?? part.bound),
      });
    }
  }
  return {
    total: parts.reduce((sum, { total }) => sum + total, 0),
    keys: [...merged.values()],
    bound: parts.reduce((sum, { bound }) => sum + bound, 0),
  };
}

function shown({ entries, low, high }: CountedKey): TopKey {
  return { entries, hits: low, error: high - low };
}
