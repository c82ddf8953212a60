/** A `value` with `*`. Each `*` matches any text, including the empty text. Split once when the rules are loaded. */
export interface Pattern {
  readonly text: string;
  /** The text before the first `*`. */
  readonly prefix: string;
  /** The text after the last `*`. */
  readonly suffix: string;
  /** The texts between two `*`, without empty ones. */
  readonly middles: readonly string[];
  /** The number of literal characters. */
  readonly literals: number;
}

export function isPattern(value: string | undefined): value is string {
  return value?.includes("*") ?? false;
}

export function parsePattern(text: string): Pattern {
  const parts = text.split("*");
  return {
    text,
    prefix: parts[0] ?? "",
    suffix: parts.at(-1) ?? "",
    middles: parts.slice(1, -1).filter((part) => part !== ""),
    literals: text.length - (parts.length - 1),
  };
}

export function matches(pattern: Pattern, value: string): boolean {
  return value.startsWith(pattern.prefix) && value.endsWith(pattern.suffix) && fits(pattern, value);
}

/** Whether a value with the pattern's prefix and suffix has room for both and contains the middles between them, in order. */
export function fits(pattern: Pattern, value: string): boolean {
  if (value.length < pattern.literals) return false;
  const end = value.length - pattern.suffix.length;
  let from = pattern.prefix.length;
  // The leftmost match of each part leaves the most room for the next.
  for (const middle of pattern.middles) {
    const found = value.indexOf(middle, from);
    if (found < 0) return false;
    from = found + middle.length;
  }
  return from <= end;
}

/**
 * Compares by specificity: more literal characters before the first `*`, then more literal characters in total. Negative
 * if `a` is more specific; 0 for equal rank, where the order in the file decides.
 */
export function bySpecificity(a: Pattern, b: Pattern): number {
  return b.prefix.length - a.prefix.length || b.literals - a.literals;
}

/** Whether some value matches both patterns. */
export function overlap(a: Pattern, b: Pattern): boolean {
  const prefixes = a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix);
  return prefixes && (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix));
}

/** Whether `outer` matches every value that `inner` matches. Only a `*` of `outer` can match a `*` of `inner`. */
export function covers(outer: Pattern, inner: Pattern): boolean {
  return matches(outer, inner.text);
}
