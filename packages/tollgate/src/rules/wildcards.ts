import { bySpecificity, matches, type Pattern } from "./pattern.ts";

/** A pattern and what it leads to. */
export interface WildcardEntry<Target> {
  readonly pattern: Pattern;
  readonly target: Target;
}

/** The wildcards of one key at one level, most specific first. */
export class WildcardIndex<Target> {
  readonly entries: readonly WildcardEntry<Target>[];

  /** @param entries in the order of the configuration, which decides between equally specific ones */
  constructor(entries: readonly WildcardEntry<Target>[]) {
    this.entries = [...entries].sort((a, b) => bySpecificity(a.pattern, b.pattern));
  }

  find(value: string): Target | undefined {
    for (const entry of this.entries) if (matches(entry.pattern, value)) return entry.target;
    return undefined;
  }
}
