import type { Rule } from "../rules/rule.ts";

/**
 * Finds the matched rules that another matched rule replaces. A rule that is dropped itself replaces nothing. The
 * recursion ends because the loader refuses cycles.
 * @param rules one for each descriptor; undefined if none matches
 * @returns for each descriptor whether its rule is dropped
 */
export function replaced(rules: readonly (Rule | undefined)[]): boolean[] {
  const state = new Array<boolean | undefined>(rules.length);
  function isDropped(index: number): boolean {
    const known = state[index];
    if (known !== undefined) return known;
    state[index] = false;
    const name = rules[index]?.name;
    if (name === undefined || name === "") return false;
    const dropped = rules.some(
      (other, at) => at !== index && other !== undefined && other.replaces.includes(name) && !isDropped(at),
    );
    state[index] = dropped;
    return dropped;
  }
  return rules.map((_, index) => isDropped(index));
}
