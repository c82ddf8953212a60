import type { Entry } from "../protocol/messages.ts";
import { printable } from "../text/printable.ts";
import { formatLocation } from "./diagnostic.ts";
import { nearest } from "./nearest.ts";
import { matches, type Pattern } from "./pattern.ts";
import type { Level, Node } from "./tree.ts";

/** The attempts and the result at one level. */
export interface LevelExplanation {
  readonly entry: Entry;
  /** The attempts in the order of the lookup. */
  readonly tried: readonly Attempt[];
  /** The location of the chosen descriptor; absent if none matched. */
  readonly chosen?: string;
}

export interface Attempt {
  readonly kind: "exact" | "wildcard" | "key-only" | "key";
  /** The rule or value that was tried, as the configuration writes it: `key=value`, `key=pattern*`, `key`. */
  readonly what: string;
  readonly result: "matched" | "not matched" | "not tried";
  /** The reason for the result. */
  readonly why: string;
  /** `file:line:column` of the descriptor; absent if there is no descriptor. */
  readonly location?: string;
}

/** Maximum attempts to list for one level. */
const MAX_LISTED = 20;
/** Maximum explicit values to compare for a suggestion. */
const MAX_COMPARED = 1000;

/** Tries the rules of one level in the order of a lookup. */
export function explainLevel(level: Level, entry: Entry): LevelExplanation {
  const keys = level.keys();
  if (!keys.includes(entry.key)) return { entry, tried: [noKey(keys, entry)] };
  const tried: Attempt[] = [];
  const chosen =
    tryExact(level, entry, tried) ?? tryWildcards(level, entry, tried) ?? tryKeyOnly(level, entry, tried);
  const keyOnly = level.keyOnly(entry.key);
  if (chosen !== undefined && chosen.value !== undefined && keyOnly !== undefined) {
    tried.push(attempt("key-only", entry.key, "not tried", "a more specific rule matched", keyOnly));
  }
  return chosen === undefined ? { entry, tried } : { entry, tried, chosen: formatLocation(chosen.location) };
}

function attempt(
  kind: Attempt["kind"],
  what: string,
  result: Attempt["result"],
  why: string,
  node?: Node,
): Attempt {
  const base = { kind, what, result, why };
  return node === undefined ? base : { ...base, location: formatLocation(node.location) };
}

function noKey(keys: readonly string[], entry: Entry): Attempt {
  const near = nearest(entry.key, keys.slice(0, 1000));
  const shown = keys.slice(0, 5).map((key) => `\`${key}\``);
  const more = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : "";
  const known =
    keys.length === 0 ? "there are no rules here" : `the keys here are ${shown.join(", ")}${more}`;
  const hint = near === undefined ? known : `did you mean \`${near}\`? Keys are case-sensitive`;
  return attempt("key", entry.key, "not matched", `no rule here has this key: ${hint}`);
}

function tryExact(level: Level, { key, value }: Entry, tried: Attempt[]): Node | undefined {
  const node = level.exact(key, value);
  const what = `${key}=${value}`;
  if (node !== undefined) {
    tried.push(attempt("exact", what, "matched", "the value is equal", node));
    return node;
  }
  const { count, first } = level.values(key, MAX_COMPARED);
  if (count > 0) {
    const near = nearest(value, first);
    const hint = near === undefined ? "" : `: did you mean "${near}"?`;
    const others =
      count === 1
        ? `the only explicit value here is "${first[0]}"`
        : `the value differs from the ${count} explicit values here${hint}`;
    tried.push(attempt("exact", what, "not matched", others));
  }
  return undefined;
}

function tryWildcards(level: Level, entry: Entry, tried: Attempt[]): Node | undefined {
  const { key } = entry;
  const value = printable(entry.value);
  let unlisted = 0;
  for (const { pattern, target } of level.wildcards(key)) {
    const what = `${key}=${pattern.text}`;
    if (matches(pattern, value)) {
      if (unlisted > 0) tried.push(notListed(key, unlisted));
      tried.push(attempt("wildcard", what, "matched", "the most specific wildcard that matches", target));
      return target;
    }
    if (tried.length < MAX_LISTED)
      tried.push(attempt("wildcard", what, "not matched", whyNot(pattern, value), target));
    else unlisted++;
  }
  if (unlisted > 0) tried.push(notListed(key, unlisted));
  return undefined;
}

function notListed(key: string, count: number): Attempt {
  return attempt("wildcard", `${key}=...`, "not matched", `${count} more wildcards do not match`);
}

function whyNot(pattern: Pattern, value: string): string {
  if (!value.startsWith(pattern.prefix)) return `the value does not begin with "${pattern.prefix}"`;
  if (!value.endsWith(pattern.suffix)) return `the value does not end with "${pattern.suffix}"`;
  if (value.length < pattern.literals) return "the value is too short for all of its parts";
  const parts = pattern.middles.map((part) => `"${part}"`).join(", then ");
  return `the value does not contain ${parts} in between`;
}

function tryKeyOnly(level: Level, { key }: Entry, tried: Attempt[]): Node | undefined {
  const keyOnly = level.keyOnly(key);
  if (keyOnly !== undefined) {
    const why = "a rule without `value` matches every value";
    tried.push(attempt("key-only", key, "matched", why, keyOnly));
  } else
    tried.push(attempt("key-only", key, "not matched", "there is no rule for this key without a `value`"));
  return keyOnly;
}
