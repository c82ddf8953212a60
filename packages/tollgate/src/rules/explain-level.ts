import type { Entry } from "../protocol/messages.ts";
import { printable } from "../text/printable.ts";
import { formatLocation } from "./diagnostic.ts";
import { nearest } from "./nearest.ts";
import { matches, type Pattern } from "./pattern.ts";
import type { KeyNodes, Level, Node } from "./tree.ts";

/** The attempts and the result at one level. */
export interface LevelExplanation {
  readonly entry: Entry;
  /** In the order of the lookup. */
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

/** Tries the rules of one level in the order of a lookup. */
export function explainLevel(level: Level, entry: Entry): LevelExplanation {
  const nodes = level.get(entry.key);
  if (nodes === undefined) return { entry, tried: [noKey(level, entry)] };
  const tried: Attempt[] = [];
  const chosen =
    tryExact(nodes, entry, tried) ?? tryWildcards(nodes, entry, tried) ?? tryKeyOnly(nodes, entry, tried);
  if (chosen !== undefined && chosen.value !== undefined && nodes.keyOnly !== undefined) {
    tried.push(attempt("key-only", entry.key, "not tried", "a more specific rule matched", nodes.keyOnly));
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

function noKey(level: Level, entry: Entry): Attempt {
  const keys = [...level.keys()];
  const near = nearest(entry.key, keys.slice(0, 1000));
  const shown = keys.slice(0, 5).map((key) => `\`${key}\``);
  const more = keys.length > shown.length ? ` and ${keys.length - shown.length} more` : "";
  const known =
    keys.length === 0 ? "there are no rules here" : `the keys here are ${shown.join(", ")}${more}`;
  const hint = near === undefined ? known : `did you mean \`${near}\`? Keys are case-sensitive`;
  return attempt("key", entry.key, "not matched", `no rule here has this key: ${hint}`);
}

function tryExact({ exact }: KeyNodes, { key, value }: Entry, tried: Attempt[]): Node | undefined {
  const node = exact.get(value);
  const what = `${key}=${value}`;
  if (node !== undefined) tried.push(attempt("exact", what, "matched", "the value is equal", node));
  else if (exact.size > 0) {
    const near = nearest(value, [...exact.keys()].slice(0, 1000));
    const hint = near === undefined ? "" : `: did you mean "${near}"?`;
    const [only] = exact.keys();
    const others =
      exact.size === 1
        ? `the only explicit value here is "${only}"`
        : `the value differs from the ${exact.size} explicit values here${hint}`;
    tried.push(attempt("exact", what, "not matched", others));
  }
  return node;
}

function tryWildcards({ wildcards }: KeyNodes, entry: Entry, tried: Attempt[]): Node | undefined {
  const { key } = entry;
  const value = printable(entry.value);
  let unlisted = 0;
  for (const { pattern, target } of wildcards?.entries ?? []) {
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

function tryKeyOnly({ keyOnly }: KeyNodes, { key }: Entry, tried: Attempt[]): Node | undefined {
  if (keyOnly !== undefined) {
    const why = "a rule without `value` matches every value";
    tried.push(attempt("key-only", key, "matched", why, keyOnly));
  } else
    tried.push(attempt("key-only", key, "not matched", "there is no rule for this key without a `value`"));
  return keyOnly;
}
